"""A chat completions server on loopback that a test scripts: what it answers, how it misbehaves, what it saw."""

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

_PIECES = re.compile(r"[^\w\n]?[^\W\d_]+|\d{1,3}| ?[^\w\s]+|\s+|_")


def tokens_in(text: str) -> int:
    """Tokens as a byte-pair tokenizer would cut them: a word with the space before it is one, a long word two."""
    return sum(2 if len(piece) > 11 else 1 for piece in _PIECES.findall(text))


@dataclass
class Answer:
    """What the server does with one call: an answer with its text, or trouble."""

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    refusal: str = ""
    finish_reason: str = "stop"
    hang: bool = False
    raw: bytes | None = None


Script = Callable[[dict[str, Any], int], Answer]
"""(body of the call, how often the same body came before) -> what to do."""


@dataclass
class Seen:
    """What came in and went out.

    Attributes:
        url: Base URL of the server.
        bodies: Every byte received, call by call.
        answered: Bodies that got an answer with status 200, in order.
        input_tokens: Tokens of all answered calls.
        output_tokens: Tokens of all answers.
        batches: Batches by id.
        hanging: Set when a call hangs.
    """

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    answered: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    hanging: threading.Event = field(default_factory=threading.Event)

    def cost(self, input_price: float, output_price: float) -> float:
        return (self.input_tokens * input_price + self.output_tokens * output_price) / 1_000_000


def completion(seen: Seen, body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    into = sum(tokens_in(message["content"]) for message in body["messages"])
    out = tokens_in(answer.text or answer.refusal)
    seen.input_tokens += into
    seen.output_tokens += out
    message = {"role": "assistant", "content": answer.text or None, "refusal": answer.refusal or None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": answer.finish_reason, "message": message}],
        "usage": {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out},
    }


def _application(script: Script, seen: Seen, polls: int) -> Starlette:
    times: dict[bytes, int] = {}

    async def chat(request: HttpRequest) -> Response:
        raw = await request.body()
        seen.bodies.append(raw)
        seen.headers.append(dict(request.headers))
        times[raw] = times.get(raw, 0) + 1
        body = json.loads(raw)
        answer = script(body, times[raw] - 1)
        if answer.hang:
            seen.hanging.set()
            await asyncio.Event().wait()
        if answer.raw is not None:
            return Response(answer.raw, answer.status, answer.headers, "application/json")
        if answer.status != 200:
            error = {"error": {"message": answer.text, "type": "error", "code": None}}
            return JSONResponse(error, answer.status, answer.headers)
        seen.answered.append(raw)
        return JSONResponse(completion(seen, body, answer))

    async def upload(request: HttpRequest) -> Response:
        head = f"Content-Type: {request.headers['content-type']}\n\n".encode()
        message = message_from_bytes(head + await request.body())
        name = f"file-{len(seen.files)}"
        sent = [part.get_payload(decode=True) for part in message.walk() if part.get_filename()]
        assert isinstance(sent[0], bytes)
        seen.files[name] = sent[0]
        seen.bodies.append(seen.files[name])
        return JSONResponse(_file(name, len(seen.files[name])))

    async def content(request: HttpRequest) -> Response:
        return Response(seen.files[request.path_params["name"]], media_type="application/octet-stream")

    async def create(request: HttpRequest) -> Response:
        asked = json.loads(await request.body())
        name = f"batch-{len(seen.batches)}"
        seen.batches[name] = {**_batch(name, asked), "polls": polls}
        return JSONResponse(seen.batches[name])

    async def listed(request: HttpRequest) -> Response:
        found = list(seen.batches.values())
        return JSONResponse({"object": "list", "data": found, "has_more": False})

    async def retrieve(request: HttpRequest) -> Response:
        batch = seen.batches[request.path_params["name"]]
        batch["polls"] -= 1
        if batch["polls"] < 0 and batch["status"] != "completed":
            _run(batch, script, seen, times)
        return JSONResponse(batch)

    routes = [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/files", upload, methods=["POST"]),
        Route("/v1/files/{name}/content", content),
        Route("/v1/batches", create, methods=["POST"]),
        Route("/v1/batches", listed, methods=["GET"]),
        Route("/v1/batches/{name}", retrieve),
    ]
    return Starlette(routes=routes)


def _file(name: str, size: int) -> dict[str, Any]:
    return {
        "id": name,
        "object": "file",
        "bytes": size,
        "created_at": 1,
        "filename": name,
        "purpose": "batch",
        "status": "processed",
    }


def _batch(name: str, asked: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": name,
        "object": "batch",
        "endpoint": asked["endpoint"],
        "input_file_id": asked["input_file_id"],
        "completion_window": asked["completion_window"],
        "metadata": asked.get("metadata"),
        "status": "in_progress",
        "created_at": 1,
        "output_file_id": None,
        "error_file_id": None,
    }


def _run(batch: dict[str, Any], script: Script, seen: Seen, times: dict[bytes, int]) -> None:
    good, bad = [], []
    for line in seen.files[batch["input_file_id"]].splitlines():
        row = json.loads(line)
        raw = json.dumps(row["body"], sort_keys=True).encode()
        times[raw] = times.get(raw, 0) + 1
        answer = script(row["body"], times[raw] - 1)
        result: dict[str, Any] = {"id": "x", "custom_id": row["custom_id"], "error": None}
        if answer.status == 200:
            seen.answered.append(raw)
            good.append(
                {**result, "response": {"status_code": 200, "body": completion(seen, row["body"], answer)}}
            )
        else:
            bad.append(
                {**result, "response": {"status_code": answer.status, "body": {"error": {"message": "no"}}}}
            )
    for kind, rows in (("output_file_id", good), ("error_file_id", bad)):
        if rows:
            name = f"file-{len(seen.files)}"
            seen.files[name] = "\n".join(json.dumps(row) for row in rows).encode()
            batch[kind] = name
    batch["status"] = "completed"


@contextmanager
def serving(script: Script, polls: int = 1) -> Iterator[Seen]:
    """A server that runs while the block does."""
    seen = Seen()
    config = uvicorn.Config(
        _application(script, seen, polls),
        host="127.0.0.1",
        port=0,
        log_level="critical",
        lifespan="off",
        timeout_graceful_shutdown=0,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    seen.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield seen
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(10)
