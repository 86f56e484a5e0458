"""Calls through the provider's batch endpoint: uploaded, waited for, fetched; a kill in between loses no batch."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builder.core.completion import NO_ANSWER, Request
from builder.core.errors import BUDGET_REACHED, BuilderError
from builder.core.hashing import digest
from builder.core.settings import ModelSettings
from builder.io.budget import Budget
from builder.io.calls import parameters, row_from, unanswered
from builder.io.journal import Journal
from builder.io.store import read_json, write_json

MOST_CALLS = 10_000
"""Calls in one batch; providers take up to 50,000, or about 200 MB."""

ENDED = ("completed", "failed", "expired", "cancelled")
MARK = "followups_calls"
"""Name of the metadata by which a batch of ours is found again."""

ROUNDS = 2
"""Times that a call is put into a batch when the batch brings no answer to it."""


async def ask_in_batches(
    client: Any,
    calls: Mapping[str, Request],
    settings: ModelSettings,
    journal: Journal,
    folder: Path,
    poll_s: float,
) -> None:
    """Ask every call that is not written down yet; a call that fails in one batch goes into one more.

    The id of an open batch is written down before anything is waited for, so that a rerun waits for the same batch.

    Raises:
        BuilderError: The provider has no batches, is not reached or rejects one, or the next call might cross the bound
            on cost.
    """
    import openai

    try:
        await _ask(client.with_options(max_retries=6), calls, settings, journal, folder, poll_s)
    except openai.APIError as error:
        status = getattr(error, "status_code", type(error).__name__)
        fix = "run again to go on with the open batch, or set batch to false"
        raise BuilderError("[model] batch", f"the batch endpoint failed ({status})", fix) from None


async def _ask(
    client: Any,
    calls: Mapping[str, Request],
    settings: ModelSettings,
    journal: Journal,
    folder: Path,
    poll_s: float,
) -> None:
    left_over = folder / "batch.json"
    if left_over.is_file():
        open_batch = read_json(left_over, "open batch")
        name = open_batch["id"] or await _find(client, open_batch["mark"])
        if name:
            await _fetch(client, name, open_batch["prompts"], settings, journal, left_over, poll_s)
    tries: dict[str, int] = dict.fromkeys(calls, 0)
    while waiting := [key for key in calls if key not in journal.rows and tries[key] < ROUNDS]:
        part = _affordable(waiting, calls, settings, journal)
        versions = {key: calls[key].prompt_version for key in part}
        mark = digest([part, len(journal.rows)])[:32]
        # Written before and after the batch is made: a kill in between leaves a mark to find it by.
        write_json(left_over, {"id": "", "mark": mark, "prompts": versions})
        name = await _send(client, {key: calls[key] for key in part}, settings, mark)
        write_json(left_over, {"id": name, "mark": mark, "prompts": versions})
        await _fetch(client, name, versions, settings, journal, left_over, poll_s)
        for key in part:
            tries[key] += 1
    for key, request in calls.items():
        if key not in journal.rows:
            journal.hold(key, unanswered(request, NO_ANSWER, f"no answer in {ROUNDS} batches"))


def _affordable(
    waiting: list[str], calls: Mapping[str, Request], settings: ModelSettings, journal: Journal
) -> list[str]:
    """As many calls as fit under the bound even if each of them costs the most it can."""
    budget = Budget(settings, journal.cost(journal.fresh))
    sums, part = budget.spent, []
    for key in waiting[:MOST_CALLS]:
        sums += budget.worst(calls[key])
        if settings.max_cost and sums > settings.max_cost:
            break
        part.append(key)
    if not part:
        raise BuilderError(
            "[model] max_cost",
            f"${budget.spent:.4f} is spent and the next call might cross ${settings.max_cost:g}",
            "raise max_cost (or --max-cost) and run again: finished calls are kept",
            BUDGET_REACHED,
        )
    return part


async def _find(client: Any, mark: str) -> str:
    """The id of the batch with our mark; "" when the provider has none."""
    async for batch in client.batches.list(limit=100):
        if (batch.metadata or {}).get(MARK) == mark:
            return str(batch.id)
    return ""


async def _send(client: Any, calls: Mapping[str, Request], settings: ModelSettings, mark: str) -> str:
    lines = [
        json.dumps(
            {
                "custom_id": key,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": parameters(settings, request),
            },
            ensure_ascii=False,
        )
        for key, request in calls.items()
    ]
    uploaded = await client.files.create(file=("calls.jsonl", "\n".join(lines).encode()), purpose="batch")
    batch = await client.batches.create(
        input_file_id=uploaded.id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={MARK: mark},
    )
    return str(batch.id)


async def _fetch(
    client: Any,
    name: str,
    versions: Mapping[str, str],
    settings: ModelSettings,
    journal: Journal,
    left_over: Path,
    poll_s: float,
) -> None:
    """Wait for a batch and write down every answer it brings."""
    while (batch := await client.batches.retrieve(name)).status not in ENDED:
        await asyncio.sleep(poll_s)
    if batch.output_file_id:
        content = await client.files.content(batch.output_file_id)
        for line in content.content.split(b"\n"):
            row = json.loads(line) if line.strip() else {}
            answer, key = row.get("response") or {}, str(row.get("custom_id"))
            if key in versions and key not in journal.rows and answer.get("status_code") == 200:
                journal.add(key, row_from(answer["body"], settings, versions[key]))
    left_over.unlink()
    if batch.status == "failed":
        said = "; ".join(str(error.message) for error in (batch.errors.data if batch.errors else None) or [])
        raise BuilderError(
            "[model] batch", f"the provider rejects batch {name} ({said[:200]})", "mend it and run again"
        )
