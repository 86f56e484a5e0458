"""What calls cost: an estimate before the first one, and a bound that is never crossed."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from builder.core.completion import Request
from builder.core.settings import ModelSettings
from builder.io.journal import Journal

CHARACTERS_PER_TOKEN = 4.0
"""Of plain Latin text, in the tokenizers of current models (between 3.9 and 4.6 on chat and JSON)."""

TOKENS_PER_OTHER_CHARACTER = 0.7
"""Of other scripts and accented letters."""

OUTPUT_TOKENS = 150
"""Tokens of a usual answer, until answers to the same prompt have been seen."""

_CAUTION = 1.6
"""A bound must hold for text that tokenizes badly: this many times the estimate, until server counts are known."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a number of calls will come to."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float


def count_tokens(text: str) -> float:
    """About how many tokens `text` has."""
    plain = len(text) if text.isascii() else sum(char < "\x80" for char in text)
    return plain / CHARACTERS_PER_TOKEN + (len(text) - plain) * TOKENS_PER_OTHER_CHARACTER


def price(settings: ModelSettings, input_tokens: float, output_tokens: float) -> float:
    """US dollars of a call with these tokens."""
    return (input_tokens * settings.input_price + output_tokens * settings.output_price) / 1_000_000


def estimate_cost(requests: Iterable[Request], settings: ModelSettings, journal: Journal) -> Estimate:
    """What the requests will cost, retries apart; answers seen before to the same prompt tell how long answers are."""
    calls, into, systems = 0, 0.0, {}
    version = ""
    for request in requests:
        calls, version = calls + 1, request.prompt_version
        if request.system not in systems:
            systems[request.system] = count_tokens(request.system)
        into += systems[request.system] + count_tokens(request.user)
    out = round(calls * usual_output(journal, version))
    return Estimate(calls, round(into), out, price(settings, into, out))


def usual_output(journal: Journal, prompt_version: str) -> float:
    """Mean tokens of an answer to this prompt, of 20 or more that are written down; else the usual number."""
    seen = [row["output_tokens"] for row in journal.rows.values() if row["prompt"] == prompt_version]
    return sum(seen) / len(seen) if len(seen) >= 20 else OUTPUT_TOKENS


class Budget:
    """Money set aside before each call, so that calls in flight can never sum to more than the bound."""

    def __init__(self, settings: ModelSettings, spent: float) -> None:
        self._settings = settings
        self.spent = spent
        self._set_aside = 0.0
        self._factor = 0.0
        self._changed = asyncio.Condition()

    def worst(self, request: Request) -> float:
        """The most that a call can cost: its tokens on the safe side, and the longest answer allowed."""
        tokens = (count_tokens(request.system) + count_tokens(request.user)) * (self._factor or _CAUTION)
        return price(self._settings, tokens + 50, self._settings.max_tokens)

    async def reserve(self, request: Request) -> float | None:
        """Set the call's worst cost aside, waiting for calls in flight if need be; None when the bound forbids it."""
        worst, most = self.worst(request), self._settings.max_cost
        if not most:
            return 0.0
        async with self._changed:
            while self.spent + self._set_aside + worst > most:
                if self._set_aside <= 0:
                    return None
                await self._changed.wait()
            self._set_aside += worst
            return worst

    async def settle(self, request: Request, reserved: float, cost: float, input_tokens: int) -> None:
        """Give back what was set aside, and write down what the call did cost."""
        if not self._settings.max_cost:
            self.spent += cost
            return
        async with self._changed:
            self.spent += cost
            self._set_aside = (
                max(self._set_aside - reserved, 0.0) if self._set_aside - reserved > 1e-12 else 0.0
            )
            guess = count_tokens(request.system) + count_tokens(request.user)
            if input_tokens and guess:
                # The largest ratio seen, with some room: the server's tokenizer is then known.
                self._factor = max(self._factor, 1.25 * input_tokens / guess)
            self._changed.notify_all()
