"""What travels down the river: transcripts, readings, follow-ups, quotas, items, and what was dropped."""

from dataclasses import dataclass, field
from functools import lru_cache

Terms = tuple[str, ...]
Aliases = tuple[tuple[str, Terms], ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message.

    Attributes:
        number: Position among user and assistant messages, from 1; 0 for system and tool messages, which are
            kept but not counted.
        role: user, assistant, system or tool.
        content: The text; never None.
        citations: Passage ids that an assistant message names as its sources.
        at: When it was sent, ISO 8601; "" when the log does not say.
    """

    number: int
    role: str
    content: str
    citations: Terms = ()
    at: str = ""


@dataclass(frozen=True, slots=True)
class Synthesis:
    """How a synthetic transcript was made: base item, donors, inserted turns, and the proof.

    Attributes:
        base: Conversation id of the base follow-up.
        base_turn: Its turn there.
        donors: Conversation ids that the inserted exchanges come from.
        inserted: Turn numbers of the inserted turns, in the new transcript.
        original_distance: `d_live` of the base.
        planned_distance: `d_live` that the insertion aims at.
        variant: plain, marker, two_donors or interleaved.
        antecedent_turns: Where the base's antecedents stand in the new transcript.
        proof: Each obligation by name and what was found.
        terms: What the donors' users ask about by name, what stands nearest first.
    """

    base: str
    base_turn: int
    donors: Terms
    inserted: tuple[int, ...]
    original_distance: int
    planned_distance: int
    variant: str
    antecedent_turns: tuple[int, ...]
    proof: tuple[tuple[str, str], ...] = ()
    terms: Terms = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation.

    Attributes:
        id: Conversation id, unique in a log.
        messages: All messages in order, uncounted ones included.
        started_at: ISO 8601, or "".
        language: BCP 47 primary tag, or "" before it was detected.
        source: Name of the file or corpus it came from.
        synthesis: How it was made, when it is synthetic.
    """

    id: str
    messages: tuple[Turn, ...]
    started_at: str = ""
    language: str = ""
    source: str = ""
    synthesis: Synthesis | None = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The counted turns; `turns[n - 1].number == n`."""
        return _counted(self.messages)

    @property
    def follow_up_turns(self) -> tuple[int, ...]:
        """Turn numbers of the follow-ups: user turns with an earlier user turn."""
        return tuple(turn.number for turn in self.turns if turn.role == "user")[1:]


@lru_cache(maxsize=4096)
def _counted(messages: tuple[Turn, ...]) -> tuple[Turn, ...]:
    return tuple(turn for turn in messages if turn.number)


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing a query can be about or constrained by."""

    name: str
    type: str
    aliases: Terms = ()


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of the corpus that can be retrieved."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a classifier says about one follow-up, before anything is derived from it.

    Attributes:
        turn: The follow-up's turn number.
        thread: Turn number of the earliest user turn with the same subject (itself when the subject is new).
        is_query: False for thanks, greetings, acknowledgements, instructions on style.
        resolvable: False when it needs something that no earlier turn supplies.
        form: One of `taxonomy.FORMS`.
        pivot: The subject differs from the previous user turn's, by the harm test.
        returns: A pivot to a subject that an earlier user turn already had.
        antecedent_turns: The most recent turn that supplies each needed thing, ascending; empty when none is needed.
        confidence: Probability that the stratum is right, 0 to 1.
        probabilities: (stratum, probability) pairs, when the classifier has them.
        unseen_turns: Turns that the classifier did not read for lack of room.
        subject: A short name for what the turn is about, "" when the classifier has none.
    """

    turn: int
    thread: int
    is_query: bool
    resolvable: bool
    form: str
    pivot: bool
    returns: bool
    antecedent_turns: tuple[int, ...]
    confidence: float
    probabilities: tuple[tuple[str, float], ...] = ()
    unseen_turns: tuple[int, ...] = ()
    subject: str = ""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """One follow-up: a pointer into its transcript, its labels, and how sure they are. Holds no turn's text.

    The fields carry the taxonomy's names; `d_live`, `d_introduced`, `d_stale`, `reference_type` and
    `intervening_turns` are derived by `taxonomy.derive` and never read from input.
    """

    conversation_id: str
    turn: int
    subject: str
    reference_type: str
    form: str
    pivot: bool
    returns: bool
    antecedent_turns: tuple[int, ...]
    d_live: int
    d_introduced: int
    required_in_rewrite: Terms
    forbidden_in_rewrite: Terms
    d_stale: int | None
    confidence: float
    intervening_turns: int = 0
    aliases: Aliases = ()
    correction: bool = False
    drift: bool = False
    answers_clarification: bool = False
    language: str = ""
    origin: str = "sampled"
    labelled_by: str = "rules"
    probabilities: tuple[tuple[str, float], ...] = ()
    unseen_turns: tuple[int, ...] = ()
    reference_rewrite: str = ""

    @property
    def id(self) -> str:
        """`conversation_id#turn`: unique within a log."""
        return f"{self.conversation_id}#{self.turn}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A drawn follow-up: its place in the stratum's queue and its chance of being drawn.

    Attributes:
        follow_up: The follow-up.
        transcript: Its conversation.
        position: 0-based place in the stratum's queue; places below the seats are drawn, the rest are reserve.
        inclusion_probability: Chance of a place among the seats, given the sample (0 for synthetic ones).
        kept: Whether the previous release had it.
    """

    follow_up: FollowUp
    transcript: Transcript
    position: int
    inclusion_probability: float
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """A follow-up made whole: prefix, labels, gold, weight. Field for field the item schema."""

    id: str
    conversation_id: str
    turn: int
    prefix: tuple[Turn, ...]
    follow_up: str
    gold: Terms
    reference_type: str
    forbidden_in_rewrite: Terms
    required_in_rewrite: Terms
    aliases: Aliases
    reference_rewrite: str | None
    form: str
    pivot: bool
    returns: bool
    antecedent_turns: tuple[int, ...]
    d_live: int
    d_stale: int | None
    d_introduced: int
    intervening_turns: int
    language: str
    origin: str
    weight: float
    inclusion_probability: float
    labelled_by: str
    confidence: float
    review: str = "none"
    subject: str = ""
    correction: bool = False
    drift: bool = False
    answers_clarification: bool = False
    gold_source: str = "cited"
    rewrite_note: str = ""
    pair: str = ""
    synthesis: Synthesis | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """A record that left the river: which, at what stage, and why, in a short fixed phrase that can be counted.

    Attributes:
        id: The record (or `file:line` before it had an id).
        stage: The stage it left at.
        reason: A fixed phrase.
        detail: Field, value and remedy, for people.
        excerpt: The start of the record as it was found; only for records that could not be read.
    """

    id: str
    stage: str
    reason: str
    detail: str = ""
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The entities an operator listed or the log itself named."""

    entities: tuple[Entity, ...] = field(default=())

    def aliases_of(self, name: str) -> Terms:
        """Aliases of the entity called `name`, case apart; () when it is unknown."""
        small = name.casefold()
        return next((e.aliases for e in self.entities if e.name.casefold() == small), ())
