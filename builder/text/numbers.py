"""Numbers that belong to somebody: phones, payment cards, accounts, social security numbers."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from builder.text.findings import Place

_IBAN_LENGTHS = Path(__file__).resolve().parent.parent / "lexicons" / "iban.json"

# These patterns begin with the digit, and look back from it: the engine then leaps from digit to digit.
_NUMBER = re.compile(r"\d(?<![\w.,#$€£¥-]\d)(?:[ \u00a0().\-–/]{0,3}\d){6,60}(?![\w%])")
_MOST_GROUPS = 8
"""Groups of digits that one number is written in."""
_GROUP = re.compile(r"\+?\(?\d+\)?")
_SSN = re.compile(r"(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}")
_PHONE_SHAPES = re.compile(
    r"""\+\d[\d ().\-–/\u00a0]{6,24}                    # +49 170 1234567
    |   00[1-9]\d[\d ().\-–/\u00a0]{6,22}               # 0049 ...
    |   (?:1[-. ])?\(?[2-9]\d{2}\)?[-. ]{1,2}\d{3}[-. ]\d{4}   # (415) 555-0123
    |   0[1-9](?:[ .\-]\d{2}){4}                        # 06 12 34 56 78
    |   \(?0\d{1,4}\)?[ \-/–]{1,2}\d{2,4}[ \-]?\d{3,4}(?:[ \-]?\d{1,4})?   # 0171 2345678, 03-1234-5678
    |   \(\d{2}\)\ ?9?\d{4}-?\d{4}                      # (11) 91234-5678
    |   [69]\d{2}[ ]\d{3}[ ]\d{3}                       # 612 345 678
    |   [89]\d{1,2}[ ]\d{3}[ ]\d{2}[ ]\d{2}           # 91 123 45 67
    |   1[3-9]\d{9}                                     # 13812345678
    """,
    re.VERBOSE,
)
_PHONE_CUE = re.compile(
    r"(?:phone|call(?:\sme)?|cell|mobile|tel|fax|whatsapp|text\sme|reach\sme|number|telefon|handy|rückruf|rufnummer"
    r"|nummer|téléphone|portable|numéro|joindre|teléfono|móvil|llam\w+|número|telefone|celular|電話|携帯|电话|手机|号码|番号)"
    r"[^\d\n]{0,24}\Z",
    re.IGNORECASE,
)
_NOT_A_PHONE = re.compile(
    r"(?:order|invoice|ticket|case|ref(?:erence)?|tracking|account|item|part|serial|sku|isbn|issn|id|bestell\w*|rechnung\w*"
    r"|auftrag\w*|commande|facture|pedido|factura|fatura|protocolo|订单|注文)"
    r"(?:\s(?:number|no\.?|nummer|code|id|numéro|n°|nº))?[\s:#]{0,3}(?:is\s|ist\s|est\s|es\s)?\Z",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:19|20)\d\d[-/. ]?(?:0[1-9]|1[0-2])[-/. ]?[0-3]\d|[0-3]?\d[-/.][0-3]?\d[-/.](?:19|20)\d\d|(?:1[5-9]|20)\d\d[ ]?[-–/][ ]?\d{4}"
)

_IBAN = re.compile(
    r"\d(?<=[A-Za-z]{2}\d)(?<![A-Za-z0-9][A-Za-z]{2}\d)\d[ -]?(?:[A-Za-z0-9]{4}[ -]?){2,7}[A-Za-z0-9]{0,4}(?![A-Za-z0-9])"
)
_CARD_PREFIX = re.compile(
    r"4|5[0-8]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|3[47]|30[0-5]|309|3[689]|35(?:2[89]|[3-8])|6"
)


@cache
def iban_lengths() -> dict[str, int]:
    """Length of an IBAN by country. Source: the SWIFT IBAN registry."""
    lengths: dict[str, int] = json.loads(_IBAN_LENGTHS.read_text(encoding="utf-8"))
    return lengths


def luhn_holds(digits: str) -> bool:
    """Whether the last digit checks the others (ISO/IEC 7812-1, Luhn's formula)."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        digit = int(char)
        if place % 2:
            digit = digit * 2 - 9 if digit > 4 else digit * 2
        total += digit
    return total % 10 == 0


def iban_remainder(compact: str) -> int:
    """Remainder by 97 of an IBAN's number; 1 when its check digits are right (ISO 7064, mod 97-10)."""
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97


def _is_card(digits: str) -> bool:
    return 13 <= len(digits) <= 19 and bool(_CARD_PREFIX.match(digits)) and luhn_holds(digits)


def find_numbers(text: str) -> Iterator[Place]:
    """Cards, phones and the like: the longest run of neighbouring groups of digits that is one, from the left."""
    for match in _NUMBER.finditer(text):
        start = match.start()
        while start and text[start - 1] in "(+":
            start -= 1
        groups = [group.span() for group in _GROUP.finditer(text, start, match.end())]
        first = 0
        while first < len(groups):
            runs = (
                (last, number)
                for last in reversed(range(first, min(len(groups), first + _MOST_GROUPS)))
                if groups[last][1] - groups[first][0] >= max(7, 3 * (last - first))
                and (number := _number(text, groups[first][0], groups[last][1]))
            )
            last, found = next(runs, (first, None))
            if found:
                yield found
            first = last + 1


def _number(text: str, start: int, end: int) -> Place | None:
    written = text[start:end]
    digits = "".join(filter(str.isdigit, written))
    if _is_card(digits) and not written.startswith("+"):
        return "card", start, end, 0.97
    if _SSN.fullmatch(written):
        return "ssn", start, end, 0.9
    if (
        not 7 <= len(digits) <= 15
        or _DATE.match(written)
        or _NOT_A_PHONE.search(text[max(0, start - 32) : start])
    ):
        return None
    if _PHONE_CUE.search(text[max(0, start - 48) : start]):
        return "phone", start, end, 0.9
    return ("phone", start, end, 0.85) if _PHONE_SHAPES.fullmatch(written) else None


def find_ibans(text: str) -> Iterator[Place]:
    """Account numbers of the right length for their country whose check digits hold."""
    for match in _IBAN.finditer(text):
        start = match.start() - 2
        size = iban_lengths().get(text[start : match.start()].upper())
        if not size:
            continue
        end, seen = start, 0
        while end < match.end() and seen < size:
            seen += text[end].isalnum()
            end += 1
        compact = "".join(filter(str.isalnum, text[start:end])).upper()
        if seen == size and iban_remainder(compact) == 1:
            yield "iban", start, end, 0.99
