from pathlib import Path

import pytest

from builder.core.errors import USAGE, BuilderError
from builder.io.store import make_folder, refuse_overwrite, write_text


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BuilderError) as caught:
        write_text(tmp_path, "x")
    assert str(caught.value) == f"{tmp_path}: cannot be written (is a folder); give the path of a file"


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("mine")
    for name in ("b", "b/c"):
        with pytest.raises(BuilderError, match=r"a\.txt is a file, not a folder"):
            write_text(file / name, "x")
    with pytest.raises(BuilderError, match=r"a\.txt is a file, not a folder"):
        make_folder(file)
    assert file.read_text() == "mine"


def test_an_input_is_never_written_over_by_whatever_path(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("mine")
    (tmp_path / "link.jsonl").symlink_to(log)
    (tmp_path / "hard.jsonl").hardlink_to(log)
    for name in ("log.jsonl", "link.jsonl", "hard.jsonl", "../" + tmp_path.name + "/log.jsonl"):
        with pytest.raises(BuilderError, match="would overwrite an input") as caught:
            refuse_overwrite(tmp_path / name, [log])
        assert caught.value.code == USAGE
    refuse_overwrite(tmp_path / "other.jsonl", [log])
