import os

import pytest

from builder.core.errors import BuilderError
from builder.io.engine import run


def double(n: int) -> int:
    return 2 * n


def die(n: int) -> int:
    os._exit(9)


def test_results_come_in_the_order_of_the_tasks_for_any_number_of_workers() -> None:
    tasks = list(range(20))
    assert list(run(double, tasks, 1)) == list(run(double, tasks, 2)) == [2 * n for n in tasks]


def test_no_tasks_give_no_results() -> None:
    assert list(run(double, [], 4)) == []


def test_a_process_that_dies_is_an_error_with_a_remedy() -> None:
    with pytest.raises(BuilderError, match="a worker process was killed; give it more memory, fewer workers"):
        list(run(die, [1, 2], 2))
