"""The settings of each stage: every default beside its meaning and unit. One dataclass per section of dataset.toml."""

from dataclasses import dataclass, field

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SetSettings:
    """[set]: what is being built."""

    name: str = "follow-ups"
    """Name of the set and of its folder under the output folder."""
    title: str = ""
    """Title of the dataset card; the name when empty."""
    license: str = ""
    """SPDX id for the card; publishing needs it."""
    source_statement: str = ""
    """One sentence for the card on where the transcripts come from."""
    seed: int = 13
    """Every random choice is a hash of this seed and the record's id."""


@dataclass(frozen=True, slots=True)
class InputSettings:
    """[input]: what is read. Paths are relative to the settings file."""

    transcripts: tuple[str, ...] = ()
    """Files, folders or globs."""
    passages: str = ""
    """JSONL of {id, title, text}; "" when there is no corpus."""
    entities: str = ""
    """Entity catalogue, JSON; "" for none."""
    labels: tuple[str, ...] = ()
    """JSONL of labels to trust for the follow-ups they name ("human" labels)."""
    reviews: str = ""
    """Review decisions, JSONL; "" for none."""


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """[read]: how an export becomes transcripts."""

    format: str = ""
    """"" detects the format from content."""
    roles: Pairs = ()
    """Role names of the export mapped to user, assistant, system or tool."""
    fields: Pairs = ()
    """Field names of the export for: conversation_id, messages, role, content, at, citations, order, language."""
    max_record_mb: int = 64
    """A longer line or record goes to the rejects file."""


@dataclass(frozen=True, slots=True)
class SampleSettings:
    """[sample]: how many conversations are kept."""

    conversations: int = 1500
    """Most conversations in the sample."""
    precision: float = 0.02
    """Half-width of the widest 95% interval of a share that the sample aims at."""
    min_follow_ups: int = 1
    """A conversation with fewer follow-ups is dropped."""


@dataclass(frozen=True, slots=True)
class RedactSettings:
    """[redact]: what never leaves the machine."""

    enabled: bool = True
    kinds: tuple[str, ...] = ("email", "phone", "ip", "card", "iban", "secret", "ssn", "name")
    """Kinds of findings that are replaced by pseudonyms."""
    keep: tuple[str, ...] = ()
    """Words that are never a finding (product and place names)."""
    names: tuple[str, ...] = ()
    """Names that are always a finding, wherever they stand (staff, customers)."""


@dataclass(frozen=True, slots=True)
class ClassifySettings:
    """[classify]: how follow-ups get their labels."""

    method: str = "encoder"
    """encoder (the shipped model) or rules (fast, no model)."""
    model: str = ""
    """Folder of a model of your own; "" for the shipped one."""
    long_range: int = 4
    """Distance from which a reference is long-range, in turns."""


@dataclass(frozen=True, slots=True)
class AdjudicateSettings:
    """[adjudicate]: second labels."""

    source: str = "none"
    """none, model or review."""
    per_stratum: int = 40
    """Follow-ups of each predicted stratum that get a second label."""
    agreement_share: float = 0.1
    """Part of them that the model labels twice."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """[model]: the language model behind second labels, rewriting and smoothing. The key comes from the environment."""

    base_url: str = ""
    name: str = ""
    key_env: str = "OPENAI_API_KEY"
    max_tokens: int = 700
    temperature: float = 0.0
    concurrency: int = 8
    timeout_s: float = 60.0
    input_price: float = 0.0
    """US dollars per million input tokens."""
    output_price: float = 0.0
    """US dollars per million output tokens."""
    max_cost: float = 0.0
    """Stop before more than this is spent, in US dollars; 0 for no bound."""
    batch: bool = False
    """Use the provider's batch endpoint."""


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """[measure]: shares and intervals."""

    correction: str = "auto"
    """auto (two_phase with second labels, else rogan_gladen), two_phase, rogan_gladen or uncorrected."""
    resamples: int = 1000
    """Bootstrap resamples of conversations."""


@dataclass(frozen=True, slots=True)
class StratifySettings:
    """[stratify]: seats."""

    size: int = 300
    """Items in the set."""
    floor: int = 15
    """Fewest seats of a stratum that occurs at all."""
    cap: int = 0
    """Most seats of a stratum; 0 for no limit."""
    floors: tuple[tuple[str, int], ...] = ()
    """Floors of single strata, by name."""
    caps: tuple[tuple[str, int], ...] = ()
    """Caps of single strata, by name."""


@dataclass(frozen=True, slots=True)
class SynthesizeSettings:
    """[synthesize]: long-range items made of real turns."""

    enabled: bool = True
    distances: tuple[int, ...] = (4, 5, 6, 7, 8)
    """Planned distances, used in turn."""
    variants: tuple[str, ...] = ("plain", "marker", "two_donors", "interleaved")
    max_donor_uses: int = 2
    surplus: float = 1.5
    """Confirmed candidates per missing seat: labelling and validation drop some."""
    share: float = 0.0
    """Part of the long-range seats that goes to synthesized items even where the log has enough real ones: paired
    with their near originals, they show what distance alone costs."""


@dataclass(frozen=True, slots=True)
class DrawSettings:
    """[draw]: which follow-ups become items."""

    per_conversation: int = 4
    """Most items of one conversation."""
    per_conversation_and_stratum: int = 1
    reserve: float = 2.0
    """Candidates per seat: labelling drops some."""
    least_confident: float = 0.2
    """Part of a stratum, the least confident, that is not drawn without a second label."""


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """[label]: terms, gold and reference rewrites."""

    pooled_gold: bool = True
    """Where no answer cites a passage and passages are given, pool BM25 results; marked as pooled."""
    pool_depth: int = 3


@dataclass(frozen=True, slots=True)
class ReleaseSettings:
    """[release]: what the release folder holds."""

    dev_share: float = 0.0
    """Part of the items that goes to a `dev` split."""
    max_near_duplicate: float = 0.85
    """Jaccard similarity of follow-ups from which two items are near-duplicates."""


@dataclass(frozen=True, slots=True)
class DriftSettings:
    """[drift]: when a mix counts as shifted."""

    material: float = 0.02
    """Differences of a share below this are never called drift."""
    alpha: float = 0.05


@dataclass(frozen=True, slots=True)
class PublishSettings:
    """[publish]: the dataset repository."""

    repo: str = ""
    private: bool = True


@dataclass(frozen=True, slots=True)
class Settings:
    """All of dataset.toml."""

    set: SetSettings = field(default_factory=SetSettings)
    input: InputSettings = field(default_factory=InputSettings)
    read: ReadSettings = field(default_factory=ReadSettings)
    sample: SampleSettings = field(default_factory=SampleSettings)
    redact: RedactSettings = field(default_factory=RedactSettings)
    classify: ClassifySettings = field(default_factory=ClassifySettings)
    adjudicate: AdjudicateSettings = field(default_factory=AdjudicateSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    measure: MeasureSettings = field(default_factory=MeasureSettings)
    stratify: StratifySettings = field(default_factory=StratifySettings)
    synthesize: SynthesizeSettings = field(default_factory=SynthesizeSettings)
    draw: DrawSettings = field(default_factory=DrawSettings)
    label: LabelSettings = field(default_factory=LabelSettings)
    release: ReleaseSettings = field(default_factory=ReleaseSettings)
    drift: DriftSettings = field(default_factory=DriftSettings)
    publish: PublishSettings = field(default_factory=PublishSettings)
