"""Every call to a language model: asked once, kept by content, in parallel, with patience, within a budget."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from builder.core.completion import Complete, Reply, Request
from builder.core.errors import USAGE, BuilderError
from builder.core.settings import ModelSettings
from builder.io.budget import estimate_cost
from builder.io.calls import call_key, reply_from
from builder.io.journal import Journal


def make_complete(
    settings: ModelSettings,
    folder: Path,
    announce: Callable[[str], None] | None = None,
    progress: bool = False,
    poll_s: float = 20.0,
) -> Complete:
    """A `Complete` that asks the model in the settings; finished calls are kept in `folder` and never repeated.

    Args:
        settings: The [model] section. The key is read from the environment variable that it names.
        folder: Where finished calls and open batches are written down.
        announce: Told the estimated cost before the first call.
        progress: Whether a progress bar is shown on stderr.
        poll_s: Seconds between two looks at a batch.

    Raises:
        BuilderError: The settings name no model that can be asked, or its key is missing; later: the bound on cost is reached, the server refuses
            the key or is gone.
    """
    check_model(settings)
    key = os.environ.get(settings.key_env, "")
    if not key and not settings.base_url:
        raise BuilderError(
            "[model]",
            f"no key in {settings.key_env}",
            "set the variable, or base_url for a server without keys",
            USAGE,
        )
    journal = Journal(folder / "calls.jsonl")
    told: list[bool] = []

    def complete(requests: Sequence[Request]) -> list[Reply]:
        keys = [call_key(settings, request) for request in requests]
        open_calls = {k: r for k, r in zip(keys, requests, strict=True) if k not in journal.rows}
        if open_calls and announce and not told:
            told.append(True)
            announce(describe_estimate(open_calls.values(), settings, journal))
        if open_calls:
            asyncio.run(_ask(open_calls, settings, key, journal, folder, progress, poll_s))
        return [reply_from(journal.rows[k]) for k in keys]

    return complete


def check_model(settings: ModelSettings) -> None:
    """Refuse settings under which no model can be asked, or no bound on cost kept.

    Raises:
        BuilderError: No model is named, base_url is no web address, or there is a bound on cost and no price to keep it by.
    """
    if not settings.name:
        raise BuilderError(
            "[model]", "name is empty", "name the model, and base_url unless it is OpenAI's", USAGE
        )
    address = urlsplit(settings.base_url)
    if settings.base_url and not (address.scheme in ("http", "https") and address.netloc):
        fix = "write it with http:// or https://, such as http://localhost:8000/v1"
        raise BuilderError("[model] base_url", f'"{settings.base_url}" is no web address', fix, USAGE)
    if settings.max_cost and not (settings.input_price or settings.output_price):
        what = f"is {settings.max_cost:g}, but no prices are set, so that no cost can be reckoned"
        fix = (
            "set [model] input_price and output_price (US dollars per million tokens), or leave the bound out"
        )
        raise BuilderError("--max-cost", what, fix, USAGE)


def describe_estimate(requests: Iterable[Request], settings: ModelSettings, journal: Journal) -> str:
    """The estimated cost in words."""
    guess = estimate_cost(requests, settings, journal)
    cost = f"about ${guess.cost:.2f}" if settings.input_price or settings.output_price else "prices not set"
    return f"{guess.calls} calls, about {guess.input_tokens} tokens in and {guess.output_tokens} out: {cost}"


async def _ask(
    calls: dict[str, Request],
    settings: ModelSettings,
    key: str,
    journal: Journal,
    folder: Path,
    progress: bool,
    poll_s: float,
) -> None:
    import openai

    try:
        http = openai.DefaultAioHttpClient(timeout=settings.timeout_s)
    except RuntimeError:
        http = None  # aiohttp is not installed: slower, and otherwise the same
    async with openai.AsyncOpenAI(
        api_key=key or "none",
        base_url=settings.base_url or None,
        timeout=settings.timeout_s,
        max_retries=0,
        http_client=http,
    ) as client:
        if settings.batch:
            from builder.io.batch import ask_in_batches

            await ask_in_batches(client, calls, settings, journal, folder, poll_s)
        else:
            from builder.io.line import Line

            await Line(client, settings, journal, key).ask_all(calls, progress)
