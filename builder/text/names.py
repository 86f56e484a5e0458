"""Which words of a conversation name one of its people: only where somebody is introduced, greeted or signs."""

import json
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from builder.text.findings import Place, first_come, has_any

_LEXICON = Path(__file__).resolve().parent.parent / "lexicons" / "names.json"


@cache
def lexicon() -> dict[str, frozenset[str]]:
    """Given names, names that are everyday words, and the neutral names that stand in for both."""
    raw: dict[str, str] = json.loads(_LEXICON.read_text(encoding="utf-8"))
    return {name: frozenset(words.split()) for name, words in raw.items()}


@cache
def neutral_names(kind: str) -> tuple[str, ...]:
    """The neutral names of `kind` (given, family, spaceless), in a fixed order."""
    raw: dict[str, str] = json.loads(_LEXICON.read_text(encoding="utf-8"))
    return tuple(raw[f"neutral_{kind}"].split())


_PART = r"[A-ZÀ-ÖØ-ÞŁŚŻŠŽČĆ][^\W\d_]{1,24}(?:['’-][A-ZÀ-ÖØ-Þ]?[^\W\d_]{1,24}){0,2}"
_PARTICLE = r"(?:van der|van den|van|von|de la|del|de|da|dos|di|bin|al|le|la|O['’])"
_FULL = rf"{_PART}(?:[ ](?:{_PARTICLE}[ ])?(?:[A-Z]\.[ ])?{_PART}){{0,3}}"

# After these words stands a name, whatever it is.
_TELLS = (
    "my name is|my name's|my full name is|name's|mein name ist|mein name lautet|ich heiße|ich heisse|je m['’]appelle"
    "|mon nom est|me llamo|mi nombre es|meu nome é|chamo-me|me chamo|mi chiamo|il mio nome è|mijn naam is|ik heet"
    "|jag heter|jeg heter|nazywam się"
)
# After these words may stand a name: it must be a known given name.
_MAY_TELL = (
    "i am|i'm|i’m|this is|it's|it’s|call me|ich bin|hier ist|hier spricht|je suis|c['’]est|soy|sou|aqui é o|aqui é a|habla"
    "|sono|ik ben|dit is"
)
_GREETS = (
    "hi|hello|hey|dear|thanks|thank you|thx|cheers|hallo|guten tag|liebe|lieber|danke|bonjour|salut|merci|cher|chère|hola"
    "|buenos días|gracias|estimado|estimada|olá|oi|obrigado|obrigada|prezado|prezada|ciao|grazie"
)
_SIGNS = (
    "best|best regards|kind regards|warm regards|regards|many thanks|thanks|thank you|cheers|sincerely|yours|yours sincerely"
    "|mit freundlichen grüßen|viele grüße|beste grüße|liebe grüße|vg|lg|mfg|cordialement|bien à vous|saludos|un saludo|atentamente"
    "|atenciosamente|abraços|cordiali saluti|met vriendelijke groet"
)
_TITLES = "mr|mrs|ms|miss|mx|dr|prof|herr|herrn|frau|monsieur|madame|mme|m|señor|señora|sr|sra|don|doña|senhor|senhora|signor|signora"
_TITLE = rf"(?i:{_TITLES})\.?[ ](?:(?i:dr|prof)\.?[ ])?"

_TOLD = re.compile(rf"\b(?i:{_TELLS})[ :]{{1,3}}(?:{_TITLE})?(?P<name>{_FULL})")
_TOLD_SMALL = re.compile(rf"\b(?i:{_TELLS})[ :]{{1,3}}(?P<name>[^\W\d_]{{2,20}})(?P<more> [^\W\d_]{{2,20}})?")
_FROM = re.compile(
    rf"\b(?i:this is|hier ist|hier spricht|ici)[ ](?:{_TITLE})?(?P<name>{_FULL})"
    r"(?=[ ](?i:from(?! \d)|speaking|calling|here|von|de chez)\b)"
)
_MAYBE = re.compile(rf"\b(?i:{_MAY_TELL})[ ](?P<name>{_FULL})")
_HERE = re.compile(
    rf"(?:^|[.!?,;:\n]\s?|(?i:\bhi|\bhello|\bhey)[ ,]{{1,2}})(?P<name>{_FULL})[ ](?i:here|speaking)\b"
)
_GREETED = re.compile(
    rf"(?:^|[.!?\n]\s?)(?i:{_GREETS}),?[ ](?P<name>{_PART}(?:[ ]{_PART})?)(?=\s?[,.!?;:\n–-]|\s?$)"
)
_ADDRESSED = re.compile(
    rf"\b(?i:{_GREETS}|i am|i'm|i’m|this is|ich bin|je suis|soy|sou|geehrte|geehrter|on behalf of|im auftrag von),?[ ]{_TITLE}(?P<name>{_FULL})"
)
_SIGNED = re.compile(
    rf"(?:^|[\n.!?,])\s{{0,4}}(?i:{_SIGNS})\s?[,!.]?\s{{0,4}}[\n,–-]\s{{0,4}}(?P<name>{_FULL})[.\s]{{0,8}}$"
)
_DASHED = re.compile(rf"\n\s?[-–—~]{{1,2}}\s?(?P<name>{_FULL})\s{{0,8}}$")
_FIELD = re.compile(
    rf"(?i:\b(?:full |first |last |customer |contact |account holder )?name|\bnachname|\bvorname|\bnom|\bnombre|\bnome)\s?[:=]\s?(?P<name>{_FULL})(?=\s{{0,4}}(?:[\n,;.]|$))"
)
_HAN = re.compile(r"(?:我叫|我的名字是|我姓|本人)(?P<name>[\u4e00-\u9fff]{2,3})(?=[,，。.、！!？?\s]|$)")
_KANA = re.compile(r"(?P<name>[\u4e00-\u9fff\u30a0-\u30ff]{2,5})(?:と申します|といいます|と言います)")
_TITLED = re.compile(
    rf"\b(?:Mr|Mrs|Ms|Miss|Herrn?|Frau|Señora?|Senhora?|Monsieur|Madame|Mme)\.?[ ](?P<name>{_PART}(?:[ ]{_PART})?)"
)

_ASKS = re.compile(
    r"\b(?:your (?:full |first |last |complete )*name|name on the (?:account|order|card|booking)|account holder|ihr(?:en)? name"
    r"|votre nom|su nombre|seu nome|il suo nome)\b",
    re.IGNORECASE,
)
_ALONE = re.compile(
    rf"(?:(?i:sure|ok|okay|yes|of course|it's|it is|that's)[,.:!]? )?(?P<name>{_FULL}|[^\W\d_]{{2,20}} [^\W\d_]{{2,20}})[.!]?"
)
# Nearly every text has none of these; looking for them first is what makes the search fast.
_TOLD_HINTS = (
    "name",
    "heiß",
    "heisse",
    "appelle",
    "mon nom",
    "llamo",
    "nombre",
    "chamo",
    "chiamo",
    "nome",
    "naam",
    " heet",
    "heter",
)
_FROM_HINTS = ("his is ", "ier ist ", "ier spricht ", "ici ")
_TITLE_CAPITALS = frozenset(title.capitalize() for title in _TITLES.split("|")) - {"M"}
_TITLE_HINTS = (" mr", " dr")
_CAPITALISED = re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_A-Z]+")


def _given(name: str) -> bool:
    first = re.split(r"[ '’-]", name)[0].lower()
    return first in lexicon()["given"] and first not in lexicon()["everyday"]


def _told(text: str, small: str, is_titled: bool) -> Iterator[Place]:
    """Names after a cue that leaves no doubt; `small` is the text in small letters."""
    patterns = [(_ADDRESSED, 0.85)] if is_titled else []
    if has_any(small, _TOLD_HINTS):
        patterns += [(_TOLD, 0.95), (_FIELD, 0.85)]
        yield from _told_small(text)
    if has_any(small, _FROM_HINTS):
        patterns.append((_FROM, 0.9))
    for pattern, confidence in patterns:
        for match in pattern.finditer(text):
            if match["name"].split()[0].lower() not in lexicon()["never"]:
                yield "name", match.start("name"), match.end("name"), confidence


def _told_small(text: str) -> Iterator[Place]:
    for match in _TOLD_SMALL.finditer(text):
        if match["name"].islower() and match["name"] in lexicon()["given"]:
            more = (match["more"] or "").strip()
            ends = not text[match.end() :].strip() or text[match.end()] in ",.;!?\n"
            whole = more and more not in lexicon()["never"] and ends
            yield "name", match.start("name"), match.end() if whole else match.end("name"), 0.85


def _guessed(text: str, role: str) -> Iterator[Place]:
    for pattern, confidence in (
        (_MAYBE, 0.8),
        (_HERE, 0.75),
        (_GREETED, 0.75),
        (_SIGNED, 0.8),
        (_DASHED, 0.7),
    ):
        for match in pattern.finditer(text):
            # "It's Victoria Avenue" says an assistant; "It's Ivan Rossi" says who was asked for the name.
            if _given(match["name"]) and (role == "user" or match.group()[:2].lower() != "it"):
                yield "name", match.start("name"), match.end("name"), confidence


def find_answered_name(asked: str, text: str) -> list[Place]:
    """The name that `text` is, when `asked` asks a person for theirs."""
    match = _ALONE.fullmatch(text.strip())
    if match is None or not _ASKS.search(asked) or (text.strip().islower() and not _given(match["name"])):
        return []
    start = text.index(match["name"])
    return [("name", start, start + len(match["name"]), 0.85)]


def _spaceless(text: str) -> Iterator[Place]:
    for pattern in (_HAN, _KANA):
        for match in pattern.finditer(text):
            yield "name", match.start("name"), match.end("name"), 0.85


@lru_cache(maxsize=1 << 15)
def find_names(text: str, role: str) -> tuple[Place, ...]:
    """Names of people in `text`, where a cue says that one stands there, in order, none overlapping another.

    A title alone ("Mrs Dalloway") is as often a book as a neighbour: such a name is reported below `SURE`, for a
    person to decide, and only where a user wrote it.
    """
    small = text.lower()
    capitalised = set(_CAPITALISED.findall(text))
    is_titled = not _TITLE_CAPITALS.isdisjoint(capitalised) or has_any(small, _TITLE_HINTS)
    found = list(_told(text, small, is_titled))
    if not lexicon()["given"].isdisjoint(map(str.lower, capitalised)):
        found += _guessed(text, role)
    if not text.isascii():
        found += _spaceless(text)
    if role == "user" and is_titled:
        found += [("name", m.start("name"), m.end("name"), 0.3) for m in _TITLED.finditer(text)]
    return tuple(sorted(first_come(found, len(text)), key=lambda place: place[1])) if found else ()


def names_in_email(local: str) -> tuple[str, ...]:
    """The parts of an e-mail's local part that are somebody's name: ("marta", "klein") of marta.klein2."""
    parts = [part for part in re.split(r"[._+-]|\d+", local.lower()) if len(part) > 2]
    if any(part in lexicon()["given"] for part in parts):
        return tuple(parts)
    return ()
