"""What the wording of a message says about its tie to what came before, for designs and rewriters alike."""

from dataclasses import dataclass
from functools import lru_cache

from builder.scope.shown import FindEntities
from builder.text.cues import Cues, read_cues
from builder.text.entities import COMMON
from builder.text.language import detect
from builder.text.lexicon import lexicon
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


def points_back(cues: Cues) -> bool:
    """Whether a message has a cue that something is left to the history."""
    return bool(
        cues.pronoun
        or cues.selector
        or cues.ellipsis
        or cues.is_bare
        or cues.correction
        or cues.n_content < 2
    )


def read_wording(text: str, find: FindEntities) -> Wording:
    """The wording of a message; names are what `find` knows and what looks like one."""
    named = any(entity.type != COMMON for entity in find(text))
    return _read(text, named)


@lru_cache(maxsize=8192)
def _read(text: str, named: bool) -> Wording:
    lex = lexicon(detect(text))
    cues = read_cues(text, lex)
    named = named or any(word.is_name for word in content_words(text, lex))
    return Wording(
        announces=bool(cues.pivot_marker),
        returns=bool(cues.return_marker),
        points=points_back(cues),
        is_brief=not named and cues.n_content <= SHORT,
        is_query=not cues.not_a_query,
    )
