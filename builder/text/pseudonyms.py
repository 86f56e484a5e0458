"""What stands in for a private value: another of the same type and shape, that belongs to nobody."""

import ipaddress
import re
from collections.abc import Callable, Mapping

from builder.text.numbers import iban_lengths, iban_remainder, luhn_holds

MAIL_HOST = "redacted.example"


def _refilled(shape: str, digits: str) -> str:
    """`shape` with its digits replaced, in order, by `digits`."""
    source = iter(digits)
    return "".join(next(source) if char.isdigit() else char for char in shape)


def _email(_value: str, code: int) -> str:
    return f"person{code + 1}@{MAIL_HOST}"


def _phone(value: str, code: int) -> str:
    """555-01xx, the block kept free for fiction, behind as much of the country code as says where."""
    size = sum(map(str.isdigit, value))
    lead = "".join(filter(str.isdigit, value))[: 1 if value.lstrip("+(0").startswith(("1", "7")) else 2]
    line = f"555{(100 + code) % 10_000:04}"
    kept = lead if value.startswith("+") or value.startswith("0") else ""
    return _refilled(value, (kept + "0" * size)[: max(0, size - 7)] + line[-size:])


def _ip(value: str, code: int) -> str:
    """Addresses kept free for documentation: RFC 5737 and RFC 3849."""
    if ":" in value:
        return f"2001:db8::{code + 1:x}"
    block = ("192.0.2", "198.51.100", "203.0.113")[code // 254 % 3]
    return str(ipaddress.IPv4Address(f"{block}.{code % 254 + 1}"))


def _card(value: str, code: int) -> str:
    """A number of the same network and length whose account part is empty but for `code`; Luhn holds."""
    digits = "".join(filter(str.isdigit, value))
    network = digits[: 1 if digits[0] == "4" else 2]
    body = network.ljust(len(digits) - 6, "0") + f"{code:05}"
    check = next(d for d in "0123456789" if luhn_holds(body + d))
    return _refilled(value, body + check)


def _iban(value: str, code: int) -> str:
    """An account of the same country and length, numbered by `code`; mod 97 holds."""
    country = value[:2].upper()
    account = f"{code:0{iban_lengths()[country] - 4}}"
    check = 98 - iban_remainder(f"{country}00{account}")
    source = iter(value[:2] + f"{check:02}{account}")
    return "".join(next(source) if char.isalnum() else char for char in value)


_KNOWN_STARTS = (
    "sk-ant-", "sk-proj-", "sk-", "sk_live_", "sk_test_", "pk_live_", "pk_test_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_",
    "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "xoxb-", "xoxp-", "xoxa-", "xapp-", "AIza", "ya29.", "hf_", "npm_",
    "pypi-", "SG.", "shpat_", "dop_v1_", "eyJ",
)  # fmt: skip


def _secret(value: str, code: int) -> str:
    if value.startswith("-----BEGIN"):
        head, _, rest = value.partition("\n")
        tail = rest.rstrip().rpartition("\n")[2]
        return "\n".join([head, f"REDACTED{code:04x}", *([tail] if tail.startswith("-----END") else [])])
    start = next((known for known in _KNOWN_STARTS if value.startswith(known)), "")
    room = len(value) - len(start)
    return start + f"REDACTED{code:04x}".ljust(room, "0")[: max(room, 8)]


def _ssn(_value: str, code: int) -> str:
    """Area 000 is never issued."""
    return f"000-00-{code + 1:04}"


RENDER: Mapping[str, tuple[Callable[[str, int], str], int]] = {
    "email": (_email, 0),
    "phone": (_phone, 9_900),
    "ip": (_ip, 762),
    "card": (_card, 90_000),
    "iban": (_iban, 9_999),
    "secret": (_secret, 65_536),
    "ssn": (_ssn, 9_998),
}
"""Kind -> (stand-in of a value by its code, number of codes; 0 counts up from the first)."""


def sameness(kind: str, value: str) -> str:
    """What two spellings of one value share: the same number with other spaces is the same number."""
    if kind == "phone":
        return "".join(filter(str.isdigit, value))[-8:]
    if kind in ("card", "iban", "ssn"):
        return "".join(filter(str.isalnum, value)).upper()
    return value if kind == "secret" else value.casefold()


_STAND_IN = re.compile(
    r"""(?<!\w)(?:
        person\d+@redacted\.example
        | [\w.-]*REDACTED[0-9a-f]{4}\w*
        | (?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d{1,3}
        | 2001:db8::[0-9a-f]{1,4}
        | 000-00-\d{4}
        | [A-Z]{2}\d{2}(?:[ ]?0){6,}[ ]?\d{1,4}(?:[ ]\d{1,4})*
        | \d{1,2}(?:[ -]?0){6,}(?:[ -]?\d){6}
        | [+(]*\d{0,2}[)]?(?:[ ().-]*0)*[ ().-]*5[ .-]?5[ .-]?5(?:[ .-]?\d){4}
    )(?!\w)""",
    re.VERBOSE,
)


def stand_in_spans(text: str) -> list[tuple[int, int]]:
    """Where stand-ins of private values stand in `text`, by their make; names, which look like any other, are not told."""
    return [match.span() for match in _STAND_IN.finditer(text)]
