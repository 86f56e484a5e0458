"""Order that nothing can disturb: ranks and digests from content alone."""

import hashlib
import json


def rank(seed: int, *parts: str | int) -> int:
    """A 64-bit number that depends on `seed` and `parts` only.

    Sorting by it is a random order that input order, worker count and interruptions cannot change
    (bottom-k sampling by a hash: Cohen and Kaplan, Summarizing data using bottom-k sketches, 2007).
    """
    text = "\x1f".join([str(seed), *(str(part) for part in parts)])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def unit(seed: int, *parts: str | int) -> float:
    """`rank` as a number in [0, 1)."""
    return (rank(seed, *parts) >> 11) / (1 << 53)


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest(value: object) -> str:
    """SHA-256 of the canonical JSON of `value`, in hex."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def digest_bytes(data: bytes) -> str:
    """SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()
