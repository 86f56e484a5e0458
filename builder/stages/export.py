"""A set in the forms that other evaluation tools read. Each export is files by path; `EXPORTS` names them."""

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence

import orjson
import yaml

from builder.core.records import Item, Passage, Terms
from builder.core.rows import Row, turn_to_row
from builder.core.terms import has_spaceless_script, occurs

Passages = Mapping[str, Passage]
Files = dict[str, bytes]
_LETTER = "A-Za-z0-9\\u00C0-\\u024F"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_OID, "followups")


def checks_of(item: Item) -> Row:
    """What a judge of a rewrite needs: terms with their wordings, distances, stratum, weight."""
    return {
        "reference_type": item.reference_type,
        "form": item.form,
        "required_in_rewrite": list(item.required_in_rewrite),
        "forbidden_in_rewrite": list(item.forbidden_in_rewrite),
        "aliases": {term: list(words) for term, words in item.aliases},
        "gold": list(item.gold),
        "d_live": item.d_live,
        "d_stale": item.d_stale,
        "weight": item.weight,
    }


def _messages(item: Item) -> list[dict[str, str]]:
    history = [{"role": turn.role, "content": turn.content} for turn in item.prefix]
    return [*history, {"role": "user", "content": item.follow_up}]


def _history(item: Item) -> str:
    return "\n".join(f"{turn.role}: {turn.content}" for turn in item.prefix)


def _gold_texts(item: Item, passages: Passages) -> list[str]:
    return [passages[name].text for name in item.gold if name in passages]


def inspect_ai(items: Sequence[Item], _: Passages) -> Files:
    """Samples for Inspect's `json_dataset`: chat messages in, the reference rewrite as target, checks as metadata."""
    rows = (
        {
            "id": item.id,
            "input": _messages(item),
            "target": item.reference_rewrite or "",
            "metadata": checks_of(item),
        }
        for item in items
    )
    return {"samples.jsonl": _jsonl(rows)}


def promptfoo(items: Sequence[Item], _: Passages) -> Files:
    """Tests for promptfoo with one regular expression per term; a plain `not-contains` would fire "SLA" inside "slate"."""
    tests = []
    for item in items:
        aliases = dict(item.aliases)
        needs = [_assertion("regex", term, aliases.get(term, ())) for term in item.required_in_rewrite]
        bans = [_assertion("not-regex", term, aliases.get(term, ())) for term in item.forbidden_in_rewrite]
        tests.append(
            {
                "description": f"{item.id} {item.reference_type}",
                "vars": {"history": _history(item), "follow_up": item.follow_up},
                "assert": [*needs, *bans],
                "metadata": {"id": item.id, "reference_type": item.reference_type, "weight": item.weight},
            }
        )
    return {"tests.yaml": yaml.safe_dump(tests, sort_keys=False, allow_unicode=True, width=1000).encode()}


def _assertion(kind: str, term: str, aliases: Terms) -> Row:
    return {"type": kind, "value": term_regex(term, aliases), "metric": f"{kind}: {term}"}


def term_regex(term: str, aliases: Terms = ()) -> str:
    """A regular expression without flags, for JavaScript and Python, that finds a term or an alias as whole words.

    It follows the matcher: case, plural and possessive endings and separators are ignored, longer words never fire,
    short capital terms keep their case, and scripts without spaces match anywhere.
    """
    return "(?:" + "|".join(_wording_regex(wording) for wording in (term, *aliases)) + ")"


def _wording_regex(wording: str) -> str:
    if has_spaceless_script(wording):
        return re.escape(wording)
    exact = wording.isupper() and not occurs(wording, wording.lower())
    words = re.findall(r"[^\W_]+", wording)
    parts = [re.escape(word) if exact else _any_case(word) for word in words]
    ending = "" if words and words[-1].isdecimal() else "(?:[eE]?[sS])?(?:['\\u2019][sS]?)?"
    return f"(?<![{_LETTER}])" + "[\\s\\W_]*".join(parts) + f"{ending}(?![{_LETTER}])"


def _any_case(word: str) -> str:
    return "".join(f"[{c.lower()}{c.upper()}]" if c.lower() != c.upper() else re.escape(c) for c in word)


def deepeval(items: Sequence[Item], passages: Passages) -> Files:
    """Goldens for DeepEval's `add_goldens_from_json_file`."""
    rows = [
        {
            "input": f"{_history(item)}\nuser: {item.follow_up}",
            "expected_output": item.reference_rewrite or "",
            "context": _gold_texts(item, passages),
            "additional_metadata": {"id": item.id, **checks_of(item)},
        }
        for item in items
    ]
    return {"goldens.json": _json(rows)}


def ragas(items: Sequence[Item], _: Passages) -> Files:
    """Multi-turn samples for Ragas' `EvaluationDataset.from_jsonl`."""
    kinds = {"user": "human", "assistant": "ai"}
    rows = (
        {
            "user_input": [
                {"content": m["content"], "type": kinds[m["role"]]}
                for m in _messages(item)
                if m["role"] in kinds
            ],
            "reference": item.reference_rewrite or "",
            "reference_topics": list(item.required_in_rewrite),
        }
        for item in items
    )
    return {"samples.jsonl": _jsonl(rows)}


def langfuse(items: Sequence[Item], _: Passages) -> Files:
    """Dataset items as Langfuse's API takes them, one JSON list."""
    rows = [
        {
            "id": item.id,
            "input": {"messages": _messages(item)},
            "expectedOutput": {"rewrite": item.reference_rewrite, **checks_of(item)},
            "metadata": {"reference_type": item.reference_type, "weight": item.weight},
        }
        for item in items
    ]
    return {"dataset_items.json": _json(rows)}


def langsmith(items: Sequence[Item], _: Passages) -> Files:
    """Examples for LangSmith's `create_examples`; an id is a UUID made of the item's own."""
    rows = [
        {
            "id": str(uuid.uuid5(_NAMESPACE, item.id)),
            "inputs": {"messages": _messages(item)},
            "outputs": {"rewrite": item.reference_rewrite, **checks_of(item)},
            "metadata": {"id": item.id, "reference_type": item.reference_type, "weight": item.weight},
        }
        for item in items
    ]
    return {"examples.json": _json(rows)}


def beir(items: Sequence[Item], passages: Passages) -> Files:
    """A BEIR folder: corpus, queries (the reference rewrite, else the follow-up), and graded pairs."""
    corpus = ({"_id": p.id, "title": p.title, "text": p.text} for _, p in sorted(passages.items()))
    queries = (
        {
            "_id": item.id,
            "text": item.reference_rewrite or item.follow_up,
            "metadata": {"follow_up": item.follow_up, "prefix": [turn_to_row(turn) for turn in item.prefix]},
        }
        for item in items
    )
    pairs = [f"{item.id}\t{name}\t1" for item in items for name in item.gold]
    qrels = "\n".join(["query-id\tcorpus-id\tscore", *pairs, ""])
    return {
        "corpus.jsonl": _jsonl(corpus),
        "queries.jsonl": _jsonl(queries),
        "qrels/test.tsv": qrels.encode(),
    }


def trec(items: Sequence[Item], _: Passages) -> Files:
    """TREC relevance judgements (`qid 0 docid grade`) and topics; white space in ids becomes an underscore."""

    def plain(name: str) -> str:
        return re.sub(r"\s", "_", name)

    pairs = [f"{plain(item.id)} 0 {plain(name)} 1" for item in items for name in item.gold]
    topics = [
        f"{plain(item.id)}\t{' '.join((item.reference_rewrite or item.follow_up).split())}" for item in items
    ]
    return {"qrels.txt": "\n".join([*pairs, ""]).encode(), "topics.tsv": "\n".join([*topics, ""]).encode()}


EXPORTS: dict[str, Callable[[Sequence[Item], Passages], Files]] = {
    "inspect": inspect_ai,
    "promptfoo": promptfoo,
    "deepeval": deepeval,
    "ragas": ragas,
    "langfuse": langfuse,
    "langsmith": langsmith,
    "beir": beir,
    "trec": trec,
}
"""Name on the command line -> the export."""


def _json(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _jsonl(rows: Iterable[Row]) -> bytes:
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
