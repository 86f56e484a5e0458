"""`make bench`: prints each figure with its aim, and its processor time as a ratio to a plain orjson loop in the same run.

Times on the clock suffer from whatever else the machine does; processor time hardly does, so the ratio is what to compare.
"""

import resource
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
    """One row: what was measured, the figure, what it should be, and its processor time over the plain loop's."""

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
        loop_s: Processor seconds that a plain orjson loop needs for it: the yardstick.
    """

    folder: Path
    log: Path
    loop_s: float

    def ratio(self, cpu_s: float) -> str:
        """Processor seconds as a multiple of the plain loop's."""
        return f"{cpu_s / self.loop_s:.1f}"


def main() -> None:
    """Measure everything and print the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = make_log(folder / "log.jsonl")
        took, cpu = timed(lambda: plain_loop(log))
        bench = Bench(folder, log, cpu)
        size = log.stat().st_size / 1e6
        rows = [Figure("plain orjson loop", f"{size / took:.0f} MB/s", "the yardstick", "1.0")]
        for measure in MEASURES:
            rows += measure(bench)
    head = ("figure", "value", "aim", "CPU / plain loop")
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


def timed(work: Callable[[], object], times: int = 3) -> tuple[float, float]:
    """(seconds on the clock, processor seconds, those of child processes too): the least of some runs.

    What disturbs a run only ever makes it slower.
    """
    runs = []
    for _ in range(times):
        start, before = time.perf_counter(), processor_seconds()
        work()
        runs.append((time.perf_counter() - start, processor_seconds() - before))
    return min(took for took, _ in runs), min(cpu for _, cpu in runs)


def processor_seconds() -> float:
    """Processor seconds of this process and of its children that have ended."""
    every = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in every)


def help_time(bench: Bench) -> Iterator[Figure]:
    """How long `followups --help` takes, the interpreter's start included."""
    took, cpu = timed(lambda: subprocess.run([*BUILD, "--help"], check=True, stdout=subprocess.DEVNULL))
    yield Figure("followups --help", f"{took:.2f} s", "< 0.5 s", bench.ratio(cpu))


def read_and_sample(bench: Bench) -> Iterator[Figure]:
    """Reading and sampling the log with one process and with two, and the memory of all of them together."""
    size = bench.log.stat().st_size / 1e6
    for workers, name, aim in ((1, "1 process", ""), (2, "2 processes", ">= 20 MB/s on 2 free cores")):
        command = [sys.executable, "-m", "bench.sampling", str(bench.log), str(workers)]
        runs = [
            orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(2)
        ]
        took, cpu = (min(run[key] for run in runs) for key in ("seconds", "cpu_seconds"))
        value = f"{size / took:.0f} MB/s ({size / cpu:.0f} MB per CPU second)"
        yield Figure(f"read + sample, {name}", value, aim, bench.ratio(cpu))
        yield Figure(
            "  resident, all of them", f"{max(run['resident_mb'] for run in runs):.0f} MB", "< 200 MB"
        )


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
    _, cpu = timed(lambda: read(transcripts))
    yield Figure("rules", f"{n / cpu:.0f} follow-ups per CPU second", ">= 3000", bench.ratio(cpu))


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
        outcome: list[subprocess.CompletedProcess[str]] = []

        def once(done: list[subprocess.CompletedProcess[str]] = outcome) -> None:
            done.append(subprocess.run(command, capture_output=True, text=True))

        took, cpu = timed(once, times=1)
        failed = f", exit code {outcome[0].returncode}" if outcome[0].returncode else ""
        yield Figure(name, f"{took:.1f} s{failed}", aim, bench.ratio(cpu))
        sys.stderr.write(outcome[0].stderr if failed else "")


def second_labels(bench: Bench) -> Iterator[Figure]:
    """Second labels per second from a server that answers at once, and the memory they take."""
    command = [sys.executable, "-m", "bench.second_labels"]
    run = orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    took, cpu, n = run["seconds"], run["cpu_seconds"], run["labelled"]
    value = f"{n / took:.0f} per second ({n / cpu:.0f} per CPU second)"
    yield Figure(f"second labels, {n} calls", value, ">= 500 on 2 free cores", bench.ratio(cpu))
    yield Figure("  resident", f"{run['resident_mb']:.0f} MB", "< 300 MB")


MEASURES: tuple[Callable[[Bench], Iterator[Figure]], ...] = (
    help_time,
    read_and_sample,
    rules,
    build,
    second_labels,
)
"""What is measured, in the order of the table."""

if __name__ == "__main__":
    main()
