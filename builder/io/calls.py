"""One call to a language model as plain values: what is sent, what it is known by, what is written down of the answer."""

from typing import Any

import orjson

from builder.core.completion import NO_ANSWER, REFUSED, TRUNCATED, Reply, Request
from builder.core.hashing import digest_bytes
from builder.core.settings import ModelSettings
from builder.io.budget import price


def parameters(settings: ModelSettings, request: Request) -> dict[str, Any]:
    """The body of the call."""
    schema = dict(request.schema)
    name = schema.pop("title", "answer")
    return {
        "model": settings.name,
        "messages": [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ],
        "max_tokens": settings.max_tokens,
        "temperature": settings.temperature,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": name, "strict": True, "schema": schema},
        },
    }


def call_key(settings: ModelSettings, request: Request) -> str:
    """What a call is known by: model, prompt version, parameters, sample, attempt, and every word that is sent."""
    known_by = [settings.base_url, request.prompt_version, request.sample, request.attempt]
    return digest_bytes(orjson.dumps([known_by, parameters(settings, request)], option=orjson.OPT_SORT_KEYS))


def reply_from(row: dict[str, Any]) -> Reply:
    """The reply of a call that is written down."""
    return Reply(row["text"], row["fault"], row["detail"], row["input_tokens"], row["output_tokens"])


def row_from(body: Any, settings: ModelSettings, prompt_version: str) -> dict[str, Any]:
    """What is written down of a server's answer: text or fault, tokens, cost."""
    choice = body["choices"][0]
    message = choice.get("message") or {}
    usage = body.get("usage") or {}
    into, out = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    text, fault, detail = message.get("content") or "", "", ""
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        text, fault, detail = "", REFUSED, str(message.get("refusal") or "content filter")[:200]
    elif choice.get("finish_reason") == "length":
        text, fault, detail = "", TRUNCATED, f"after {out} tokens; raise [model] max_tokens"
    elif not text:
        fault, detail = NO_ANSWER, "empty message"
    return {
        "prompt": prompt_version,
        "text": text,
        "fault": fault,
        "detail": detail,
        "input_tokens": into,
        "output_tokens": out,
        "cost": round(price(settings, into, out), 9),
    }


def unanswered(request: Request, fault: str, detail: str) -> dict[str, Any]:
    """What is written down where there was no answer at all."""
    return {
        "prompt": request.prompt_version,
        "text": "",
        "fault": fault,
        "detail": detail,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost": 0.0,
    }
