"""`make bench`: prints each figure with its aim, and as a ratio to a plain orjson loop over the same log."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from builder.core.tables import render_table

ROOT = Path(__file__).resolve().parent.parent
LOG_BYTES = 50_000_000
BUILD = [sys.executable, "-c", "from builder.cli import main; main()"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One row: what was measured, the figure, what it should be, and its ratio to the plain loop where that tells something."""

    name: str
    value: str
    aim: str
    ratio: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """What the measurements share.

    Attributes:
        folder: For temporary files.
        log: A log of about 50 MB, made of the sample log's conversations under new ids.
        loop_s: Seconds that a plain orjson loop needs for it: the yardstick.
    """

    folder: Path
    log: Path
    loop_s: float


def main() -> None:
    """Measure everything and print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = make_log(folder / "log.jsonl")
        bench = Bench(folder, log, seconds(lambda: plain_loop(log)))
        size = log.stat().st_size / 1e6
        rows = [Figure("plain orjson loop", f"{size / bench.loop_s:.0f} MB/s", "the yardstick", "1.0")]
        for measure in MEASURES:
            rows += measure(bench)
    head = ("figure", "value", "aim", "time / plain loop")
    sys.stdout.write(render_table(head, [(row.name, row.value, row.aim, row.ratio) for row in rows]) + "\n")


def make_log(path: Path) -> Path:
    """A JSONL log of `LOG_BYTES`: the sample log again and again, each copy with its own ids and words."""
    rows = [
        orjson.loads(line)
        for source in sorted((ROOT / "data" / "halyard").glob("transcripts*.jsonl"))
        for line in source.read_bytes().splitlines()
    ]
    n = 0
    with path.open("wb") as file:
        while file.tell() < LOG_BYTES:
            for row in rows:
                n += 1
                first, *rest = row["messages"]
                messages = [{**first, "content": f"{first['content']} ({n})"}, *rest]
                file.write(orjson.dumps({**row, "conversation_id": f"c{n}", "messages": messages}) + b"\n")
    return path


def plain_loop(log: Path) -> int:
    """User turns of the log, counted with no checks at all."""
    n = 0
    with log.open("rb") as file:
        for line in file:
            n += sum(message["role"] == "user" for message in orjson.loads(line)["messages"])
    return n


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The quickest of some runs: what disturbs a run only ever makes it slower."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def help_time(_bench: Bench) -> Iterator[Figure]:
    """How long `followups --help` takes, the interpreter's start included."""
    took = seconds(lambda: subprocess.run([*BUILD, "--help"], check=True, stdout=subprocess.DEVNULL))
    yield Figure("followups --help", f"{took:.2f} s", "< 0.5 s")


def read_and_sample(bench: Bench) -> Iterator[Figure]:
    """Reading and sampling the log with one process and with two, and the memory of all of them together."""
    size = bench.log.stat().st_size / 1e6
    for workers in (1, 2):
        command = [sys.executable, "-m", "bench.sampling", str(bench.log), str(workers)]
        runs = [
            orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(2)
        ]
        took = min(run["seconds"] for run in runs)
        name = f"read + sample, {workers} process{'es' if workers > 1 else ''}"
        yield Figure(
            name,
            f"{size / took:.0f} MB/s",
            ">= 20 MB/s on 2 cores" if workers > 1 else "",
            f"{took / bench.loop_s:.1f}",
        )
        yield Figure("  resident, all processes", f"{runs[0]['resident_mb']:.0f} MB", "< 200 MB")


def rules(bench: Bench) -> Iterator[Figure]:
    """Follow-ups that the rules label per second on one core."""
    from builder.cli.inputs import load_log
    from builder.core.settings import ClassifySettings, ReadSettings
    from builder.io.corpus import load_catalogue
    from builder.pipeline.readers import make_reader

    sample = ROOT / "data" / "halyard"
    transcripts = load_log([sample], ReadSettings(), bench.folder).transcripts
    n = sum(len(transcript.follow_up_turns) for transcript in transcripts)
    read = make_reader(ClassifySettings(method="rules"), load_catalogue(sample / "entities.json"))
    took = seconds(lambda: read(transcripts))
    yield Figure("rules, one core", f"{n / took:.0f} follow-ups/s", ">= 3000 /s")


def build(bench: Bench) -> Iterator[Figure]:
    """A whole build of the sample, and the same again with nothing changed."""
    command = [
        *BUILD,
        "build",
        "--config",
        str(ROOT / "data" / "dataset.toml"),
        "--out",
        str(bench.folder / "dist"),
    ]
    for name, aim in (("build of the sample", "< 20 s"), ("  unchanged, again", "< 1 s")):
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True)
        took = time.perf_counter() - start
        failed = (
            f", exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}" if done.returncode else ""
        )
        yield Figure(name, f"{took:.1f} s{failed}", aim)


MEASURES: tuple[Callable[[Bench], Iterator[Figure]], ...] = (help_time, read_and_sample, rules, build)
"""What is measured, in the order of the table."""

if __name__ == "__main__":
    main()
