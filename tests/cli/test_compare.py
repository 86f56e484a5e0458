import json
from pathlib import Path
from typing import Any

import pytest

from builder.cli import run
from builder.core.rows import item_to_row
from builder.io.store import read_jsonl, write_jsonl
from tests.evaluate.test_compare import PASSAGES, SET
from tests.io.model_server import Answer, serving


@pytest.fixture
def items(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "items.jsonl", [item_to_row(item) for item in SET])
    write_jsonl(
        tmp_path / "passages.jsonl", [{"id": p.id, "title": p.title, "text": p.text} for p in PASSAGES]
    )
    return tmp_path / "items.jsonl"


def test_compare_writes_tables_page_and_runs(items: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, passages = items.parent / "compare", str(items.parent / "passages.jsonl")
    asked = [
        "compare",
        str(items),
        "--out",
        str(out),
        "--designs",
        "window:0 segments:wording,0.3",
        "--passages",
        passages,
    ]
    assert run(asked) == 0
    printed = capsys.readouterr().out
    assert "recall@5" in printed
    assert "contamination" in printed
    assert sorted(path.name for path in out.iterdir()) == ["compare.json", "compare.md", "index.html", "runs"]
    runs = sorted(path.name for path in (out / "runs").iterdir())
    assert runs == [
        f"{d}--{r}.jsonl" for d in ("segments-wording-0.3", "window-0") for r in ("expand", "resolve")
    ]
    assert len(json.loads((out / "compare.json").read_text())["entries"]) == 4


def test_a_run_of_rewrite_is_a_run_that_score_reads(items: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = items.parent / "run.jsonl"
    asked = ["rewrite", str(items), "--design", "threads", "--rewriter", "resolve", "--out", str(out)]
    assert run([*asked, "--passages", str(items.parent / "passages.jsonl")]) == 0
    assert [row["id"] for row in read_jsonl(out)] == [item.id for item in SET]
    capsys.readouterr()
    assert run(["score", str(items), str(out)]) == 0
    assert "post_pivot_standalone" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (["--design", "windw:2"], 2, 'unknown design "windw:2"; did you mean window'),
        (["--design", "none", "--rewriter", "expnd"], 2, 'unknown rewriter "expnd"; did you mean expand'),
        (["--design", "none", "--samples", "3"], 2, "resolve gives the same rewrite each time"),
        (["--design", "segments", "--embed", "bert"], 2, 'unknown embedder "bert"'),
        (["--design", "none", "--rewriter", "openai"], 2, "name is empty"),
    ],
)
def test_a_mistake_ends_in_one_sentence(
    items: Path, capsys: pytest.CaptureFixture[str], extra: list[str], code: int, message: str
) -> None:
    assert run(["rewrite", str(items), "--out", str(items.parent / "run.jsonl"), *extra]) == code
    assert message in capsys.readouterr().err
    assert not (items.parent / "run.jsonl").exists()


def test_a_model_is_asked_once_per_question_and_its_report_moves_the_scope(
    items: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(body: dict[str, Any], _times: int) -> Answer:
        latest = body["messages"][-1]["content"].split("Latest message: ")[-1]
        shift = "new topic" in latest
        return Answer(json.dumps({"query": latest.strip(), "topic_shift": shift, "entities": []}))

    monkeypatch.chdir(items.parent)
    with serving(script) as seen:
        asked = [
            "rewrite",
            str(items),
            "--design",
            "segments:flag",
            "--rewriter",
            "openai",
            "--out",
            "run.jsonl",
        ]
        asked += ["--base-url", seen.url, "--model", "small"]
        assert run(asked) == 0
        n_calls = len(seen.bodies)
        assert run(asked) == 0
        assert len(seen.bodies) == n_calls
    rows = read_jsonl(items.parent / "run.jsonl")
    # Five earlier user turns and three follow-ups, two of which are the earlier turns again under the same prefix.
    assert n_calls == 6
    assert [row["shown"]["turns"] for row in rows] == [[1, 2], [1, 2, 3, 4, 5, 6], [7, 8, 9, 10]]
    assert all(row["tokens"]["calls"] == 1 and row["tokens"]["input"] > 0 for row in rows)
    assert "3 rewrites, 0 missing; 3 calls" in capsys.readouterr().err
