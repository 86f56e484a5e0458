"""Work on many shards: in this process or in several, with the results in the order of the shards either way."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from builder.core.errors import BuilderError

Task = TypeVar("Task")
Result = TypeVar("Result")


def run_serial(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int = 1) -> Iterator[Result]:
    """Each result in turn, made in this process, whatever the number of workers."""
    del workers
    return map(work, tasks)


def run_processes(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Iterator[Result]:
    """Each result in turn, made by `workers` processes; `work` must be a module's function or a partial of one.

    Raises:
        BuilderError: A process died.
    """
    # Spawned, not forked: a fork copies locks of threads (progress bars, libraries) that nobody will release.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context)
    try:
        yield from pool.map(work, tasks)
    except BrokenProcessPool:
        fix = "give it more memory, fewer workers, or a smaller [read] max_record_mb"
        raise BuilderError("read", "a worker process was killed", fix) from None
    finally:
        pool.shutdown(cancel_futures=True)


ENGINES: dict[str, Callable[..., Iterator[object]]] = {"serial": run_serial, "processes": run_processes}
"""Name of an engine -> how it runs work on tasks. Which one ran cannot be told from the results."""


def run(work: Callable[[Task], Result], tasks: Sequence[Task], workers: int) -> Iterator[Result]:
    """`work(task)` for each task, in order; in several processes when there is more than one worker and task."""
    name = "processes" if workers > 1 and len(tasks) > 1 else "serial"
    return ENGINES[name](work, tasks, workers)  # type: ignore[return-value] # the table forgets the type of the result
