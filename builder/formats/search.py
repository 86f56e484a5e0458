"""Conversational search collections: MTRAG, TREC CAsT 2019 to 2022, TREC iKAT."""

from collections.abc import Iterator, Mapping
from typing import Any

from builder.formats.shape import Malformed, Row, find_id, is_messages, one, said, shown, text_id

SPEAKERS = {"user": "user", "agent": "assistant"}


def is_mtrag(value: Any) -> bool:
    """{messages: [{speaker, text, ...}]}."""
    return isinstance(value, dict) and is_messages(value.get("messages"), "speaker", "text")


def from_mtrag(value: Any) -> Iterator[Row]:
    """One conversation; an answer cites the contexts that annotators found relevant, or all when none was judged."""
    messages = []
    for message in value["messages"]:
        row = said(message["speaker"], message["text"])
        row["at"] = message.get("timestamp")
        row["citations"] = cited_contexts(message.get("contexts") or [])
        messages.append(row)
    return one(find_id(value), messages)


def cited_contexts(contexts: list[Mapping[str, Any]]) -> list[str]:
    """Ids of the contexts that somebody judged relevant; of all contexts when nobody judged any."""
    judged = [(context["document_id"], _judgements(context)) for context in contexts]
    if any(values for _, values in judged):
        return [name for name, values in judged if "yes" in values]
    return [name for name, _ in judged]


def _judgements(context: Mapping[str, Any]) -> list[str]:
    relevant = (context.get("feedback") or {}).get("relevant") or {}
    return [
        judgement["value"] if isinstance(judgement, dict) else judgement for judgement in relevant.values()
    ]


def is_cast(value: Any) -> bool:
    """{number, turn: [{number, raw_utterance or utterance or participant}]}."""
    turns = value.get("turn") if isinstance(value, dict) else None
    return any(is_messages(turns, "number", name) for name in ("raw_utterance", "utterance", "participant"))


def from_cast(value: Any) -> Iterator[Row]:
    """One conversation of a topic, or one for each root-to-leaf path of a 2022 tree."""
    topic = text_id(value["number"])
    if any("participant" in turn for turn in value["turn"]):
        yield from _from_tree(topic, value["turn"])
        return
    messages: list[Row] = []
    for turn in value["turn"]:
        messages.append(said("user", turn["raw_utterance"] if "raw_utterance" in turn else turn["utterance"]))
        answer = turn.get("passage", turn.get("response"))
        if answer is not None:
            messages.append(said("assistant", answer) | {"citations": _sources(turn)})
    # A path of 2022 is known by its last user turn, so that the tree and the flattened file agree on its id.
    leaf = value["turn"][-1]["number"]
    yield from one(f"{topic}_{leaf}" if isinstance(leaf, str) else topic, messages)


def _sources(turn: Mapping[str, Any]) -> list[str]:
    if turn.get("provenance"):
        return list(turn["provenance"])
    return [cast_source(turn)] if turn.get("canonical_result_id") else []


def cast_source(turn: Mapping[str, Any]) -> str:
    """The id of the passage that answers a turn: its document, and its number there when the file gives one."""
    number = f"-{turn['passage_id']}" if "passage_id" in turn else ""
    return f"{turn['canonical_result_id']}{number}"


def _from_tree(topic: str, turns: list[Mapping[str, Any]]) -> Iterator[Row]:
    """Root-to-leaf paths of a tree, each once; a system leaf belongs to the user turn above it."""
    by_number = {turn["number"]: turn for turn in turns}
    parents = {turn.get("parent") for turn in turns}
    for leaf in (turn for turn in turns if turn["number"] not in parents):
        path, node, seen = [], leaf, set()
        while True:
            if node["number"] in seen:
                raise Malformed(
                    "turns in a circle", f"turn {node['number']} is above itself; correct its parent"
                )
            seen.add(node["number"])
            path.append(node)
            if node.get("parent") is None:
                break
            if node["parent"] not in by_number:
                raise Malformed(
                    "no such parent",
                    f"turn {node['number']} has parent {shown(node['parent'])}; give a turn of the topic",
                )
            node = by_number[node["parent"]]
        path.reverse()
        users = [turn["number"] for turn in path if turn["participant"] == "User"]
        messages = [_node(turn) for turn in path]
        yield from one(f"{topic}_{users[-1] if users else leaf['number']}", messages)


def _node(turn: Mapping[str, Any]) -> Row:
    if turn["participant"] == "User":
        return said("user", turn["utterance"])
    return said("assistant", turn["response"]) | {"citations": _sources(turn)}


def is_ikat(value: Any) -> bool:
    """{number, turns: [{turn_id, utterance, response}]}."""
    return isinstance(value, dict) and is_messages(value.get("turns"), "turn_id", "utterance")


def from_ikat(value: Any) -> Iterator[Row]:
    """One conversation. Facts about the user's persona were never said, so they are no messages."""
    messages: list[Row] = []
    for turn in value["turns"]:
        messages.append(said("user", turn["utterance"]))
        if turn.get("response") is not None:
            messages.append(
                said("assistant", turn["response"]) | {"citations": turn.get("response_provenance")}
            )
    return one(text_id(value.get("number")), messages)
