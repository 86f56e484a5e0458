"""Many calls at once over one line: as many as allowed, one pause for all when the server is busy, one budget."""

import asyncio
import random
import time
from typing import Any

import orjson

from builder.core.completion import NO_ANSWER, REFUSED, Request
from builder.core.errors import BUDGET_REACHED, BuilderError
from builder.core.settings import ModelSettings
from builder.io.budget import Budget
from builder.io.calls import parameters, row_from, unanswered
from builder.io.journal import Journal

ATTEMPTS = 6
"""Times that a call is sent when the server is busy, fails, or is not reached."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 60.0
GIVE_UP_AFTER = 8
"""Calls in a row that end without any answer before the server counts as gone."""


class Line:
    """The calls of one run: so many at once, one pause for all when the server is busy, one budget."""

    def __init__(self, client: Any, settings: ModelSettings, journal: Journal, key: str) -> None:
        self._client = client
        self._settings = settings
        self._journal = journal
        self._key = key
        self._budget = Budget(settings, journal.cost(journal.fresh))
        self._resume_at = 0.0
        self._failed_in_a_row = 0
        self._over: BuilderError | None = None

    async def ask_all(self, calls: dict[str, Request], progress: bool) -> None:
        """Ask every call that is not written down yet; what was asked is kept, whatever happens."""
        from tqdm import tqdm

        waiting = iter(calls.items())
        with tqdm(total=len(calls), unit="call", disable=not progress) as bar:

            async def work() -> None:
                for name, request in waiting:
                    if self._over:
                        return
                    await self._ask(name, request)
                    bar.update()

            await asyncio.gather(*(work() for _ in range(max(1, self._settings.concurrency))))
        if self._over:
            raise self._over

    async def _ask(self, name: str, request: Request) -> None:
        reserved = await self._budget.reserve(request)
        if reserved is None:
            self._over = self._over or self._budget_error()
            return
        cost, into = 0.0, 0
        try:
            row = await self._row(request)
            if row is not None:
                cost, into = row["cost"], row["input_tokens"]
                lost = row["fault"] == NO_ANSWER and not into
                (self._journal.hold if lost else self._journal.add)(name, row)
        finally:
            await self._budget.settle(request, reserved, cost, into)

    def _budget_error(self) -> BuilderError:
        return BuilderError(
            "[model] max_cost",
            f"${self._budget.spent:.4f} is spent and the next call might cross ${self._settings.max_cost:g}",
            "raise max_cost (or --max-cost) and run again: finished calls are kept",
            BUDGET_REACHED,
        )

    async def _row(self, request: Request) -> dict[str, Any] | None:
        """The server's answer, with patience; None when the run is over."""
        body, detail = parameters(self._settings, request), ""
        for attempt in range(ATTEMPTS):
            await self._until_resumed()
            if self._over:
                return None
            outcome = await self._send(body, attempt)
            if isinstance(outcome, dict):
                self._failed_in_a_row = 0
                return row_from(outcome, self._settings, request.prompt_version)
            if isinstance(outcome, BuilderError):
                self._over = self._over or outcome
                return None
            wait, detail = outcome
            if wait < 0:
                return unanswered(request, REFUSED, detail)
            if attempt < ATTEMPTS - 1:
                await asyncio.sleep(wait)
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= GIVE_UP_AFTER:
            fix = "see whether it is up, then run again: finished calls are kept"
            self._over = self._over or BuilderError(
                self._settings.base_url or "[model]", f"no answer ({detail})", fix
            )
            return None
        return unanswered(request, NO_ANSWER, detail)

    async def _send(
        self, body: dict[str, Any], attempt: int
    ) -> dict[str, Any] | tuple[float, str] | BuilderError:
        """The parsed answer; or (seconds to wait, why), negative when waiting cannot help; or what ends the run."""
        import httpx2
        import openai

        backoff = min(FIRST_WAIT_S * 2**attempt, LONGEST_WAIT_S) * (0.75 + random.random() / 2)
        try:
            # The raw answer: building typed objects of it costs more than the call itself.
            raw = await self._client.post(
                "/chat/completions", cast_to=httpx2.Response, content=orjson.dumps(body)
            )
            parsed = orjson.loads(raw.content)
            return (
                parsed
                if isinstance(parsed, dict) and parsed.get("choices")
                else (backoff, "no choices in the answer")
            )
        except openai.RateLimitError as error:
            if error.code == "insufficient_quota":
                return BuilderError("[model]", "the account has no quota left", "top it up and run again")
            wait = retry_after(error.response.headers, backoff)
            self._resume_at = max(self._resume_at, time.monotonic() + wait)
            return 0.0, "rate limit (429)"
        except openai.APIStatusError as error:
            return self._status(error, body, backoff)
        except (openai.APIError, httpx2.HTTPError, ValueError, OSError) as error:
            return backoff, self._safe(f"{type(error).__name__}: {error}")

    def _status(self, error: Any, body: dict[str, Any], backoff: float) -> tuple[float, str] | BuilderError:
        status, said = error.status_code, self._safe(str(error))
        if status in (401, 403):
            fix = f"check the key in {self._settings.key_env}"
            return BuilderError("[model]", f"the server refuses the key ({status})", fix)
        if status == 404:
            return BuilderError("[model]", f"not found: {said}", "check base_url and name")
        if status in (408, 409) or status >= 500:
            return retry_after(error.response.headers, backoff), f"server error ({status})"
        if "max_completion_tokens" in said and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")
            return 0.0, said
        if "temperature" in said and "temperature" in body:
            del body["temperature"]
            return 0.0, said
        return -1.0, f"{status}: {said}"

    async def _until_resumed(self) -> None:
        while (wait := self._resume_at - time.monotonic()) > 0:
            await asyncio.sleep(wait)

    def _safe(self, text: str) -> str:
        """`text` without the key, which servers like to repeat."""
        return (text.replace(self._key, "***") if self._key else text)[:300]


def retry_after(headers: Any, otherwise: float) -> float:
    """Seconds that the server asks to wait (`retry-after-ms`, or `retry-after` in seconds or as a date)."""
    from email.utils import parsedate_to_datetime

    try:
        if headers.get("retry-after-ms"):
            return max(float(headers["retry-after-ms"]) / 1000, 0.0)
        said = headers.get("retry-after") or ""
        seconds = (
            float(said)
            if said.replace(".", "", 1).isdigit()
            else parsedate_to_datetime(said).timestamp() - time.time()
        )
        return min(max(seconds, 0.0), 600.0)
    except (ValueError, TypeError):
        return otherwise
