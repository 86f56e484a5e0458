"""What must hold before real turns may be inserted between a real antecedent and a real follow-up; each a named check."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from builder.core.records import FollowUp, Transcript
from builder.core.terms import has_spaceless_script, occurs
from builder.text.donors import Donor, Phrases, register_of
from builder.text.evidence import Evidence, Lexis


@dataclass(frozen=True, slots=True)
class Base:
    """A real dependent follow-up, with what its words say.

    Attributes:
        follow_up: Its labels.
        transcript: Its conversation.
        text: Its wording.
        asked: Its content words, without generic ones.
        needed: Content words of its required terms and antecedent turns.
        wordings: Its required terms with their aliases.
        names: Entities in it and in every turn before it.
        types: Types of the entities in it and in its antecedent turns, where the catalogue gives one.
        register: How its user writes.
        gold: Passage ids that its answer cites.
        last_stands_alone: Whether the exchange before it needs no history, so that turns may stand before that too.
    """

    follow_up: FollowUp
    transcript: Transcript
    text: str
    asked: frozenset[str]
    needed: frozenset[str]
    wordings: tuple[str, ...]
    names: frozenset[str]
    types: frozenset[str]
    register: str
    gold: frozenset[str]
    last_stands_alone: bool = False


_LIST = re.compile(
    r"^\s*(?:[-*•]|\d+[.)])\s|\w, [^.,;?!]{1,40},? (?:and|or|und|oder|y|o|et|ou|e) \w|、[^。、]{1,20}、"
    r"|\b[A-Z][\w-]+ (?:and|or|und|oder|y|o|et|ou|e) [A-Z]"
    r"|\b(?:both|either|two|three|beide|zwei|drei|ambos|dos|tres|deux|trois|dois|três)\b",
    re.MULTILINE,
)
_SMILE = re.compile(r"[:;]-?[)(DP]|\^\^|[\U0001f600-\U0001f64f]")
_DEMONSTRATED_NOUN = re.compile(
    r"\b(?:that|this|those|these|the same) (?!one\b|is\b|was\b)([a-z][\w-]{2,})", re.IGNORECASE
)


def read_base(
    follow_up: FollowUp,
    transcript: Transcript,
    gold: frozenset[str],
    lexis: Lexis,
    phrases: Phrases,
    standing: frozenset[int] = frozenset(),
) -> Base:
    """The base with its words read once; `standing` holds the user turns of its conversation that need no history."""
    text = transcript.turns[follow_up.turn - 1].content
    generic = frozenset(phrases.get("generic", ()))
    sources = [transcript.turns[number - 1].content for number in follow_up.antecedent_turns]
    words = (*follow_up.required_in_rewrite, *sources)
    known = dict(follow_up.aliases)
    wordings = [w for t in follow_up.required_in_rewrite for w in (t, *known.get(t, ()), *lexis.aliases(t))]
    return Base(
        follow_up=follow_up,
        transcript=transcript,
        text=text,
        asked=lexis.content(text, transcript.language) - generic,
        needed=frozenset(w for part in words for w in lexis.content(part, transcript.language)) - generic,
        wordings=tuple(dict.fromkeys(wordings)),
        names=frozenset(n for turn in transcript.turns[: follow_up.turn] for n in lexis.names(turn.content)),
        types=frozenset(
            kind for part in (text, *sources) for name in lexis.names(part) if (kind := lexis.type_of(name))
        ),
        register=register_of(transcript.turns),
        gold=gold,
        last_stands_alone=follow_up.turn - 2 in standing,
    )


def unfit_as_base(base: Base, phrases: Phrases) -> str:
    """Why this follow-up cannot be moved away from its antecedent; "" when it can."""
    label, text = base.follow_up, base.text.strip()
    turns = base.transcript.turns
    before = turns[label.turn - 3 : label.turn - 1]
    if not 1 <= label.d_live <= 3 or label.form in ("none", "carryover"):
        return "not a near reference"
    if [turn.role for turn in before] != ["user", "assistant"]:
        return "roles do not alternate before it"
    if label.turn >= len(turns) or turns[label.turn].role != "assistant":
        return "no answer follows it"
    if label.correction or label.answers_clarification:
        return "answers the turn before it"
    if any(occurs(phrase, text) for phrase in phrases.get("adjacency", ())):
        return "presumes that its antecedent is adjacent"
    if _opens(text, phrases.get("openers", ())):
        return "opens as a reply to the turn before it"
    if label.form == "ellipsis" and _opens(text, phrases.get("connectives", ())):
        return "continues the sentence of the turn before it"
    if _SMILE.search(text):
        return "comments on the answer before it"
    if any(occurs(phrase, text) for phrase in phrases.get("selectors", ())):
        return "selects without naming what"
    if not _supplied(base):
        return "its antecedent supplies no required term"
    if not _anchored(base):
        return "its own words do not tie it to its antecedent"
    return ""


def _opens(text: str, words: Sequence[str]) -> bool:
    return any(re.match(rf"\W*{re.escape(word)}\b", text, re.IGNORECASE) for word in words)


def _supplied(base: Base) -> bool:
    """Whether a required term stands in an antecedent turn and not in the follow-up: else nothing shows its loss."""
    known = dict(base.follow_up.aliases)
    sources = [base.transcript.turns[number - 1].content for number in base.follow_up.antecedent_turns]
    return any(
        not occurs(term, base.text, known.get(term, ()))
        and any(occurs(term, text, known.get(term, ())) for text in sources)
        for term in base.follow_up.required_in_rewrite
    )


def _anchored(base: Base) -> bool:
    """Whether the follow-up says enough of its own to be understood behind other turns."""
    if base.follow_up.form == "ordinal":
        return len(base.asked) >= 1
    if (
        base.follow_up.form == "ellipsis"
        and len(base.text.split()) < 5
        and not has_spaceless_script(base.text)
    ):
        return False
    if base.follow_up.form == "pronoun" and not _DEMONSTRATED_NOUN.search(base.text):
        return len(base.asked) >= 2
    return len(base.asked) >= (1 if has_spaceless_script(base.text) else 2)


def shares_no_entity(base: Base, donor: Donor) -> str:
    """No required term, alias or entity of the base stands in the donor."""
    shared = base.names & donor.names
    if shared:
        return f"both name {min(shared)}"
    named = next((wording for wording in base.wordings if occurs(wording, donor.text)), "")
    return f"the donor names {named}" if named else ""


def shares_no_content(base: Base, donor: Donor, evidence: Evidence) -> str:
    """No content word of the follow-up, and no distinctive one of its antecedents, stands in the donor."""
    shared = (base.asked & donor.content) | evidence.distinctive(base.needed & donor.content)
    return f"both say {min(shared)}" if shared else ""


def offers_no_antecedent(base: Base, donor: Donor, evidence: Evidence, phrases: Phrases) -> str:
    """Nothing in the donor can be what the follow-up points to.

    For an ordinal or a description: the donor has no list. For "there" and persons: the donor has none. For every form:
    the donor has no thing of a type that the follow-up or its antecedents have, and no word of the follow-up stands
    with a word the donor's user asks about, anywhere in the log or the passages.
    """
    if base.follow_up.form in ("ordinal", "definite") and any(
        _LIST.search(turn.content) for turn in donor.turns
    ):
        return "the donor has a list"
    for kind in ("persons", "places"):
        words = phrases.get(kind, ())
        if any(occurs(word, base.text) for word in words) and any(
            occurs(word, turn.content) for word in words for turn in donor.turns
        ):
            return f"the donor has {kind}"
    if base.types & donor.types:
        return f"both have a {min(base.types & donor.types)}"
    met = evidence.meet(evidence.distinctive(base.asked), evidence.distinctive(donor.asked))
    return f"{met[0]} stands with {met[1]} elsewhere" if met else ""


def reads_as_log(base: Base, donor: Donor) -> str:
    """Language and register are the base's, and the donor is another conversation's."""
    if donor.conversation_id == base.transcript.id:
        return "the donor is the same conversation"
    if donor.language != base.transcript.language:
        return "the donor is in another language"
    if donor.register != base.register:
        return "the donor's user writes in another register"
    return ""


def keeps_the_gold(base: Base, donor: Donor) -> str:
    """No passage that answers the follow-up is cited in the donor."""
    cited = base.gold & {passage for turn in donor.turns for passage in turn.citations}
    return f"the donor cites {min(cited)}" if cited else ""


def prove(
    base: Base, donors: Sequence[Donor], evidence: Evidence, phrases: Phrases
) -> tuple[tuple[str, str], ...]:
    """Each obligation by name with "holds" or the reason why it does not; stops at the first that fails."""
    proof: list[tuple[str, str]] = []
    checks: tuple[tuple[str, Callable[[Donor], str]], ...] = (
        ("reads_as_log", lambda donor: reads_as_log(base, donor)),
        ("shares_no_content", lambda donor: shares_no_content(base, donor, evidence)),
        ("shares_no_entity", lambda donor: shares_no_entity(base, donor)),
        ("keeps_the_gold", lambda donor: keeps_the_gold(base, donor)),
        ("offers_no_antecedent", lambda donor: offers_no_antecedent(base, donor, evidence, phrases)),
    )
    for name, check in checks:
        reason = next((found for donor in donors if (found := check(donor))), "")
        proof.append((name, reason or "holds"))
        if reason:
            break
    return tuple(proof)


def holds(proof: Sequence[tuple[str, str]]) -> bool:
    """Whether every obligation of a proof holds."""
    return all(finding == "holds" for _, finding in proof)
