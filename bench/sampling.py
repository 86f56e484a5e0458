"""One measured run in its own process: `python -m bench.sampling LOG WORKERS` prints seconds and memory as JSON."""

import json
import os
import resource
import sys
import threading
import time
from pathlib import Path


def main() -> None:
    """Read and sample once; memory is the largest sum over this process and its workers at any moment."""
    from builder.core.settings import ReadSettings, SampleSettings
    from builder.pipeline.reading import sample_files

    log, workers = Path(sys.argv[1]), int(sys.argv[2])
    peaks: list[int] = []
    done = threading.Event()
    watcher = threading.Thread(target=watch, args=(peaks, done))
    watcher.start()
    start = time.perf_counter()
    kept, _, facts = sample_files([log], ReadSettings(), SampleSettings(), 13, workers)
    took = time.perf_counter() - start
    done.set()
    watcher.join()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(each.ru_utime + each.ru_stime for each in used)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    resident = max([own, *(peak / 1e6 for peak in peaks)])
    figures = {"seconds": took, "cpu_seconds": cpu, "resident_mb": resident, "sampled": len(kept), **facts}
    sys.stdout.write(json.dumps(figures) + "\n")


def watch(peaks: list[int], done: threading.Event) -> None:
    """Note the resident memory of this process and those below it, until `done`."""
    page = os.sysconf("SC_PAGE_SIZE")
    while not done.wait(0.02):
        peaks.append(sum(resident_pages(pid) for pid in family(os.getpid())) * page)


def family(pid: int) -> list[int]:
    """A process and all below it."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        below = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except (OSError, ValueError):
        return [pid]
    return [pid, *(name for child in below for name in family(child))]


def resident_pages(pid: int) -> int:
    """Resident pages of a process; 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0


if __name__ == "__main__":
    main()
