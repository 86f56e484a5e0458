"""5,000 second labels from an instant server on loopback: `python -m bench.second_labels` prints rate and memory as JSON.

The server is a bare protocol in a process of its own, so that what is measured is our side of the call.
"""

import asyncio
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

N_CALLS = 5000
ANSWER = {
    "analysis": "Asks for the RPO of the place named above.",
    "is_query": True,
    "missing": [{"what": "the place", "turn": 2}],
    "form": "pronoun",
    "subject": "Dublin",
    "same_subject_turns": [1],
    "required": [{"term": "Dublin", "aliases": ["eu-west-1"]}, {"term": "RPO", "aliases": []}],
    "forbidden": [],
    "standalone_query": "Dublin RPO",
}


class Instant(asyncio.Protocol):
    """Answers every complete POST at once with the same completion."""

    def __init__(self, response: bytes) -> None:
        self._response = response
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the line to answer on."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer when the whole body is there."""
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        lengths = [
            line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
        ]
        if lengths and len(body) >= int(lengths[0]):
            self._buffer = b""
            self._transport.write(self._response)


def serve(told: Connection) -> None:
    """Serve until the process is ended; tells the port."""
    message = {"role": "assistant", "content": json.dumps(ANSWER)}
    completion = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "instant",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 2000, "completion_tokens": 120, "total_tokens": 2120},
    }
    body = json.dumps(completion).encode()
    head = (
        f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    )

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Instant(head + body), "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def main() -> None:
    """Label `N_CALLS` follow-ups of as many conversations, and say how that went."""
    from builder.core.records import FollowUp, Transcript, Turn
    from builder.core.settings import ModelSettings
    from builder.io.llm import make_complete
    from builder.pipeline.second_labels import load_prompt
    from builder.stages.adjudicate import adjudicate_follow_ups

    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    settings = ModelSettings(base_url=f"http://127.0.0.1:{here.recv()}/v1", name="instant", concurrency=32)
    transcripts = {}
    for n in range(N_CALLS):
        turns = (
            Turn(1, "user", f"which sites let us bring our own keys? (case {n})"),
            Turn(2, "assistant", "Frankfurt and Dublin (eu-west-1) accept customer-held keys. " * 6),
            Turn(3, "user", "and its RPO?"),
        )
        transcripts[f"c{n}"] = Transcript(f"c{n}", turns)
    blank = [
        FollowUp(name, 3, "", "", "none", False, False, (), 0, 0, (), (), None, 1.0) for name in transcripts
    ]
    with tempfile.TemporaryDirectory() as folder:
        complete = make_complete(settings, Path(folder))
        start, before = time.perf_counter(), time.process_time()
        labelled = sum(
            isinstance(r, FollowUp)
            for r in adjudicate_follow_ups(blank, transcripts, complete, load_prompt(4))
        )
        took, cpu = time.perf_counter() - start, time.process_time() - before
    server.terminate()
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"labelled": labelled, "seconds": took, "cpu_seconds": cpu, "resident_mb": resident}
    sys.stdout.write(json.dumps({name: round(value, 2) for name, value in figures.items()}) + "\n")


if __name__ == "__main__":
    main()
