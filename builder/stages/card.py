"""README.md of a release: the Hub's metadata and sections written from the facts; what people edited is kept."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from builder.core.hashing import digest

_MARK = re.compile(r"<!-- section: ([a-z-]+) ([0-9a-f]{12}) -->")
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a card's body.

    Attributes:
        name: Its key in the marker comment.
        heading: Its heading.
        text: Its Markdown below the heading.
    """

    name: str
    heading: str
    text: str


def render_card(front: Mapping[str, Any], title: str, sections: Sequence[Section]) -> str:
    """The card: YAML metadata, title, and each section under a marker that tells whether a person edited it since."""
    return _assemble(front, f"# {title}", [_marked(section) for section in sections])


def merge_cards(generated: str, edited: str) -> str:
    """The generated card with what people wrote into an earlier one.

    A section whose text no longer has the digest of its marker was edited: the person's text stands. Sections without
    a marker are a person's own and stand where they stood. Metadata: keys and configs of people stay, tags are united,
    all other keys are generated.
    """
    if not edited.strip():
        return generated
    front, intro, parts = _split(generated)
    old_front, old_intro, old_parts = _split(edited)
    merged: list[str] = []
    old = {_name(part): part for part in old_parts if _name(part)}
    new = {_name(part): part for part in parts}
    for part in parts:
        earlier = old.get(_name(part))
        merged.append(earlier if earlier and _is_edited(earlier) else part)
    placed = [_name(part) for part in parts]
    for index, part in enumerate(old_parts):
        if _name(part) in new:
            continue
        if _name(part) and not _is_edited(part):
            continue  # generated once, no longer wanted
        before = next((_name(p) for p in reversed(old_parts[:index]) if _name(p) in new), "")
        at = placed.index(before) + 1 if before else len(merged)
        merged.insert(at, part)
        placed.insert(at, "")
    return _assemble(_merge_front(front, old_front), _merge_intro(intro, old_intro), merged)


def front_of(card: str) -> dict[str, Any]:
    """The metadata of a card; empty when it has none."""
    return _split(card)[0]


def body_digest(sections: Sequence[Section]) -> str:
    """Digest of the generated sections: another one is a change of the card."""
    return digest([[s.name, s.heading, s.text] for s in sections])


def _assemble(front: Mapping[str, Any], intro: str, parts: Sequence[str]) -> str:
    metadata = yaml.safe_dump(dict(front), sort_keys=False, allow_unicode=True, width=1000)
    return "\n\n".join([f"---\n{metadata}---", intro.strip(), *(part.strip() for part in parts)]) + "\n"


def _marked(section: Section) -> str:
    body = f"## {section.heading}\n\n{section.text.strip()}"
    return f"<!-- section: {section.name} {digest(body)[:12]} -->\n{body}"


def _split(card: str) -> tuple[dict[str, Any], str, list[str]]:
    """(metadata, what stands before the first section, sections)."""
    match = _FRONT.match(card)
    front = yaml.safe_load(match[1]) if match else {}
    body = card[match.end() :] if match else card
    parts = re.split(r"^(?=<!-- section: )|(?<! -->\n)^(?=## )", body, flags=re.MULTILINE)
    return front or {}, parts[0].strip(), [part.strip() for part in parts[1:] if part.strip()]


def _name(part: str) -> str:
    match = _MARK.match(part)
    return match[1] if match else ""


def _is_edited(part: str) -> bool:
    match = _MARK.match(part)
    return match is not None and digest(part[match.end() :].strip())[:12] != match[2]


def _merge_intro(generated: str, edited: str) -> str:
    """The generated title with the paragraphs that a person put under the earlier one."""
    paragraphs = [line for line in edited.split("\n\n") if not line.startswith("# ")]
    return "\n\n".join([generated, *paragraphs])


def _merge_front(front: Mapping[str, Any], edited: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**front, **{key: value for key, value in edited.items() if key not in front}}
    merged["tags"] = list(dict.fromkeys([*front.get("tags", ()), *(edited.get("tags") or ())]))
    named = {config["config_name"] for config in front.get("configs", ())}
    extra = [config for config in edited.get("configs") or () if config.get("config_name") not in named]
    if merged.get("configs") or extra:
        merged["configs"] = [*front.get("configs", ()), *extra]
    return merged
