"""Partial gold from public corpora: human rewrites, dependence links and services, read as taxonomy labels."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from builder.core.records import Transcript, Turn
from builder.model.training.examples import Example

_WORD = re.compile(r"\w+")
_SMALL_WORDS = (
    "a an the of in on for to and or is are was were be do does did what which who how why when where about it its"
    " that this those these there they them their he she his her him i you me my your we our with from by at as some any"
    " can could would should will have has had many much tell please other more than so if not no"
)
_SMALL = frozenset(_SMALL_WORDS.split())


def read_public(data: Path) -> list[Example]:
    """Every partially labelled follow-up of the public corpora under `data`; the CAsT 2020 gold is left out."""
    return [
        *cast_2019(data / "cast" / "2019"),
        *cast_2021(data / "cast" / "2021"),
        *cast_2022(data / "cast" / "2022"),
        *ikat(data / "ikat"),
        *gecor(data / "gecor"),
        *followup(data / "followup"),
        *sgd(data / "sgd"),
    ]


def cast_2019(folder: Path) -> Iterator[Example]:
    """User turns only; needs-history and antecedents from the human rewrites."""
    with (folder / "evaluation_topics_annotated_resolved_v1.0.tsv").open(encoding="utf-8") as file:
        rewrites = dict(line.rstrip("\n").split("\t", 1) for line in file if "\t" in line)
    for topic in _json(folder / "evaluation_topics_v1.0.json"):
        raw = [turn["raw_utterance"] for turn in topic["turn"]]
        wanted = [rewrites.get(f"{topic['number']}_{turn['number']}") for turn in topic["turn"]]
        yield from _rewritten("cast2019", f"c19-{topic['number']}", [("user", t) for t in raw], wanted)


def cast_2020(folder: Path) -> Iterator[Example]:
    """User turns only; needs-history and antecedents from the dependence links (used for judging, not training)."""
    for topic in _json(folder / "automatic_evaluation_topics_annotated_v1.1.json"):
        order = {turn["number"]: n for n, turn in enumerate(topic["turn"], 1)}
        transcript = _transcript(
            f"c20-{topic['number']}", [("user", turn["raw_utterance"]) for turn in topic["turn"]]
        )
        for n, turn in enumerate(topic["turn"][1:], 2):
            links = [*turn.get("query_turn_dependence", ())]
            if turn.get("result_turn_dependence"):
                links.append(turn["result_turn_dependence"])
            antecedents = tuple(sorted({order[link] for link in links if order.get(link, n) < n}))
            yield Example("cast2020", transcript, n, needs=bool(antecedents), antecedent_turns=antecedents)


def cast_2021(folder: Path) -> Iterator[Example]:
    """With the system's passages; needs-history and antecedents from the human rewrites."""
    for topic in _json(folder / "2021_manual_evaluation_topics_v1.0.json"):
        turns: list[tuple[str, str]] = []
        wanted: list[str | None] = []
        for turn in topic["turn"]:
            turns += [("user", turn["raw_utterance"]), ("assistant", turn["passage"])]
            wanted += [turn["manual_rewritten_utterance"], None]
        yield from _rewritten("cast2021", f"c21-{topic['number']}", turns, wanted)


def cast_2022(folder: Path) -> Iterator[Example]:
    """One path per tree and leaf; a turn that several paths share is taken once."""
    seen: set[tuple[int, str]] = set()
    for n, topic in enumerate(_json(folder / "2022_evaluation_topics_flattened_duplicated_v1.0.json")):
        turns: list[tuple[str, str]] = []
        wanted: list[str | None] = []
        for turn in topic["turn"]:
            new = (topic["number"], turn["number"]) not in seen
            seen.add((topic["number"], turn["number"]))
            turns += [("user", turn["utterance"]), ("assistant", turn.get("response") or "")]
            wanted += [turn["manual_rewritten_utterance"] if new else None, None]
        yield from _rewritten("cast2022", f"c22-{topic['number']}-{n}", turns, wanted)


def ikat(folder: Path) -> Iterator[Example]:
    """Turns whose rewrite adds persona facts are left out: no earlier turn supplies those."""
    for name in ("2023_train_topics.json", "2023_test_topics.json"):
        for topic in _json(folder / name):
            turns: list[tuple[str, str]] = []
            wanted: list[str | None] = []
            for turn in topic["turns"]:
                turns += [("user", turn["utterance"]), ("assistant", turn.get("response") or "")]
                wanted += [None if turn.get("ptkb_provenance") else turn["resolved_utterance"], None]
            yield from _rewritten("ikat", f"ikat-{topic['number']}", turns, wanted)


def gecor(folder: Path) -> Iterator[Example]:
    """The message as it was, and its elliptical and pronominal versions with their forms."""
    for n, dialogue in enumerate(_json(folder / "CamRest676_annotated.json")):
        turns: list[tuple[str, str]] = []
        for step in dialogue["dial"]:
            user = step["usr"]
            complete = user["transcript_complete"]
            versions: dict[str, str | None] = {user["transcript"]: None}
            versions[user["transcript_with_ellipsis"]] = "ellipsis"
            versions[user["transcript_with_coreference"]] = "pronoun"
            for order, (text, form) in enumerate(versions.items()):
                if text and complete and turns:
                    here = [*turns, ("user", text)]
                    wanted = [None] * len(turns) + [complete]
                    yield from _rewritten("gecor", f"gecor-{n}-{order}", here, wanted, form)
            turns += [("user", user["transcript"]), ("assistant", step["sys"]["sent"])]


def followup(folder: Path) -> Iterator[Example]:
    """Pairs of questions about a table: needs-history from the fused question."""
    with (folder / "train.tsv").open(encoding="utf-8") as file:
        for n, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)):
            turns = [("user", row[0]), ("user", row[1])]
            yield from _rewritten("followup", f"followup-{n}", turns, [None, row[2]])


def sgd(folder: Path) -> Iterator[Example]:
    """Pivot and returns from the active service of each user turn; needs-history is not labelled."""
    for file in sorted(folder.glob("*/dialogues_*.json")):
        for dialogue in _json(file):
            turns = [
                ("user" if t["speaker"] == "USER" else "assistant", t["utterance"]) for t in dialogue["turns"]
            ]
            transcript = _transcript(f"sgd-{file.stem}-{dialogue['dialogue_id']}", turns)
            services = [_active_service(t) if t["speaker"] == "USER" else None for t in dialogue["turns"]]
            yield from _by_service(transcript, services)


def _by_service(transcript: Transcript, services: Sequence[str | None]) -> Iterator[Example]:
    earlier: list[tuple[int, str]] = []
    for number, service in enumerate(services, 1):
        if service is None:
            continue
        if earlier:
            pivot = service != earlier[-1][1]
            returns = pivot and any(service == name for _, name in earlier)
            same = tuple((n, name == service) for n, name in earlier)
            yield Example("sgd", transcript, number, pivot=pivot, returns=returns, same_subject=same)
        earlier.append((number, service))


def _active_service(turn: dict[str, Any]) -> str | None:
    """The service a user turn is about; when one closes and another opens, the one that opens (listed last)."""
    active = [
        f["service"] for f in turn["frames"] if f.get("state", {}).get("active_intent", "NONE") != "NONE"
    ]
    named = active or [frame["service"] for frame in turn["frames"]]
    return named[-1] if named else None


def _rewritten(
    source: str,
    name: str,
    turns: Sequence[tuple[str, str]],
    rewrites: Sequence[str | None],
    form: str | None = None,
) -> Iterator[Example]:
    """Examples for the follow-ups that have a rewrite: needs-history when it says more than the message did."""
    kept = [(n, role, text) for n, (role, text) in enumerate(turns) if text.strip()]
    transcript = _transcript(name, [(role, text) for _, role, text in kept])
    users = 0
    for number, (n, role, text) in enumerate(kept, 1):
        users += role == "user"
        rewrite = rewrites[n]
        if role != "user" or users < 2 or not rewrite:
            continue
        added = _words(rewrite) - _words(text)
        changed = _plain(rewrite) != _plain(text)
        if changed and not added:
            continue  # only wording or punctuation changed: says neither yes nor no
        antecedents = _suppliers(added, transcript, number) if added else ()
        if antecedents is None:
            continue  # the added words were never said: knowledge of the rewriter
        yield Example(
            source,
            transcript,
            number,
            needs=bool(added),
            form=(form if added else "none"),
            antecedent_turns=antecedents,
        )


def _suppliers(added: Iterable[str], transcript: Transcript, turn: int) -> tuple[int, ...] | None:
    """The most recent turns that supply the added words, fewest turns first; None when most were never said."""
    missing, found = set(added), []
    said = [(t.number, _words(t.content)) for t in transcript.turns[: turn - 1]]
    total = len(missing)
    while missing:
        number, words = max(said, key=lambda entry: (len(missing & entry[1]), entry[0]))
        if not missing & words:
            break
        found.append(number)
        missing -= words
        if len(missing) <= total // 3:
            break
    return tuple(sorted(found)) if len(missing) <= total // 2 and found else None


def _words(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text.casefold()) if word not in _SMALL}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _plain(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _transcript(name: str, turns: Iterable[tuple[str, str]]) -> Transcript:
    return Transcript(name, tuple(Turn(n, role, text) for n, (role, text) in enumerate(turns, 1)))


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
