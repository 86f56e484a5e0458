"""A text with planted private values, made from a seed, and where each stands."""

import random
from dataclasses import dataclass

from builder.core.records import Transcript, Turn
from builder.text.numbers import iban_lengths, iban_remainder, luhn_holds


@dataclass(frozen=True, slots=True)
class Planted:
    kind: str
    turn: int
    start: int
    end: int


BASE62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
SENTENCES = (
    "please send the invoice for web-07 to {} before Friday, thanks",
    "we are on version 2.14.3 in eu-west-1 and {} is what support has on file",
    "ok, so {} again. And what is the RPO of Frankfurt?",
    "Order 4500123987 of 2026-09-14 was placed with {}, is that right?",
    "does the export API log {}? the limit is 10,000 rows, 99.95% of the time",
    "{}",
    "Wir haben {} hinterlegt, gilt das auch für db.medium?",
    "nous avons indiqué {} dans le formulaire du 14/09/2026",
)


def email(rng: random.Random) -> str:
    name = rng.choice(["marta.klein", "j_doe", "ops+alerts", "li.wei88", "o'brien", "ana-maria.souza", "x1"])
    return f"{name}@{rng.choice(['acme.com', 'mail.uni-koeln.de', 'example.org', 'kunde.co.uk', 'firma.io'])}"


def phone(rng: random.Random) -> str:
    def digits(size: int) -> str:
        return "".join(rng.choice("0123456789") for _ in range(size))

    return rng.choice(
        [
            f"+1 (415) 555-{digits(4)}",
            f"+49 170 {digits(7)}",
            f"+33 6 {digits(2)} {digits(2)} {digits(2)} {digits(2)}",
            f"+442079{digits(6)}",
            f"(212) 736-{digits(4)}",
            f"415-664-{digits(4)}",
            f"06 12 {digits(2)} {digits(2)} {digits(2)}",
            f"0171 {digits(7)}",
            f"+81-90-1234-{digits(4)}",
            f"+55 11 9{digits(4)}-{digits(4)}",
        ]
    )


def ip(rng: random.Random) -> str:
    if rng.random() < 0.3:
        return "2001:db8:" + ":".join(f"{rng.randrange(1, 65536):x}" for _ in range(6))
    return f"{rng.randrange(11, 223)}.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"


def card(rng: random.Random) -> str:
    start, size = rng.choice([("4", 16), ("51", 16), ("2221", 16), ("34", 15), ("37", 15), ("6011", 16)])
    body = start + "".join(rng.choice("0123456789") for _ in range(size - len(start) - 1))
    digits = body + next(d for d in "0123456789" if luhn_holds(body + d))
    return rng.choice(
        [
            digits,
            " ".join(digits[n : n + 4] for n in range(0, size, 4)),
            "-".join(digits[n : n + 4] for n in range(0, size, 4)),
        ]
    )


def iban(rng: random.Random) -> str:
    country = rng.choice(["DE", "FR", "GB", "ES", "NL", "PT", "CH", "AT"])
    body = "".join(rng.choice("0123456789") for _ in range(iban_lengths()[country] - 4))
    if country in ("GB", "NL"):
        body = "ABNA" + body[4:]
    compact = f"{country}{98 - iban_remainder(country + '00' + body):02}{body}"
    return rng.choice([compact, " ".join(compact[n : n + 4] for n in range(0, len(compact), 4))])


def secret(rng: random.Random) -> str:
    def signs(size: int, of: str = BASE62) -> str:
        return "".join(rng.choice(of) for _ in range(size))

    return rng.choice(
        [
            f"sk-{signs(40)}",
            f"ghp_{signs(36)}",
            f"AKIA{signs(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}",
            f"xoxb-{signs(11, '0123456789')}-{signs(24)}",
            f"eyJ{signs(30)}.eyJ{signs(60)}.{signs(43)}",
            signs(32),
            signs(40, "0123456789abcdef"),
            f"AIza{signs(35)}",
            f"glpat-{signs(20)}",
        ]
    )


def ssn(rng: random.Random) -> str:
    return f"{rng.randrange(100, 665)}-{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}"


MAKERS = {"email": email, "phone": phone, "ip": ip, "card": card, "iban": iban, "secret": secret, "ssn": ssn}


def plant(seed: int, size: int) -> tuple[Transcript, tuple[Planted, ...]]:
    """A transcript with `size` values, one a turn, of every structured kind in turn."""
    rng = random.Random(seed)
    turns, planted = [], []
    for number in range(1, size + 1):
        kind = list(MAKERS)[number % len(MAKERS)]
        value = MAKERS[kind](rng)
        before, _, after = rng.choice(SENTENCES).partition("{}")
        turns.append(Turn(number, "user" if number % 2 else "assistant", before + value + after))
        planted.append(Planted(kind, number, len(before), len(before) + len(value)))
    return Transcript(f"planted-{seed}", tuple(turns)), tuple(planted)
