"""What the wording of a message says about its tie to what came before, for designs and rewriters alike."""

from dataclasses import dataclass
from functools import lru_cache

from builder.scope.shown import FindEntities
from builder.scope.tongue import lexicon_for
from builder.text.cues import Cues, read_cues
from builder.text.entities import COMMON
from builder.text.words import content_words

SHORT = 5
"""Words with content up to which a message without a name of its own is taken to go on with what came before."""


@dataclass(frozen=True, slots=True)
class Wording:
    """How a message is tied to the history, by its words alone.

    Attributes:
        announces: It says that another subject comes.
        returns: It says that an earlier subject comes back.
        points: It has a pronoun, a selector, an ellipsis or a correction, or is a mere fragment.
        is_brief: It is short and names nothing.
        is_query: It asks for something.
    """

    announces: bool
    returns: bool
    points: bool
    is_brief: bool
    is_query: bool

    @property
    def goes_on(self) -> bool:
        """The message belongs with what was said before it."""
        return (self.points or self.is_brief or not self.is_query) and not self.announces


POSSESSIVE = frozenset({"its", "their", "his", "her", "itself", "themselves"})
"""Pronouns that mostly stand for something named in the same sentence, where it names anything."""


def pronoun_points(cues: Cues, named: bool) -> bool:
    """Whether a message's pronoun stands for something outside it: not when the message names what it belongs to."""
    return bool(cues.pronoun) and not (named and (cues.pivot_marker or cues.pronoun in POSSESSIVE))


def points_back(cues: Cues, named: bool) -> bool:
    """Whether a message has a cue that something is left to the history; `named` says that it has a name of its own."""
    is_fragment = cues.ellipsis or cues.is_bare or cues.correction or cues.n_content < 2
    return bool(pronoun_points(cues, named) or cues.selector or is_fragment)


def read_wording(text: str, find: FindEntities) -> Wording:
    """The wording of a message; names are what `find` knows and what looks like one."""
    named = any(entity.type != COMMON for entity in find(text))
    return _read(text, named)


@lru_cache(maxsize=8192)
def _read(text: str, named: bool) -> Wording:
    lex = lexicon_for(text)
    cues = read_cues(text, lex)
    looks_named = named or any(word.is_name for word in content_words(text, lex))
    return Wording(
        announces=bool(cues.pivot_marker),
        returns=bool(cues.return_marker),
        points=points_back(cues, named),
        is_brief=not looks_named and cues.n_content <= SHORT,
        is_query=not cues.not_a_query,
    )
