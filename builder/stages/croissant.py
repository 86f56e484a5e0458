"""croissant.json: the set described for machines in the Croissant vocabulary, each table with its digest and fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CONTEXT: dict[str, Any] = {
    "@language": "en", "@vocab": "https://schema.org/", "citeAs": "cr:citeAs", "column": "cr:column",
    "conformsTo": "dct:conformsTo", "cr": "http://mlcommons.org/croissant/", "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"}, "dct": "http://purl.org/dc/terms/", "extract": "cr:extract",
    "field": "cr:field", "fileObject": "cr:fileObject", "fileProperty": "cr:fileProperty", "fileSet": "cr:fileSet",
    "format": "cr:format", "includes": "cr:includes", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath",
    "key": "cr:key", "md5": "cr:md5", "parentField": "cr:parentField", "path": "cr:path", "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "equivalentProperty": "cr:equivalentProperty", "examples": {"@id": "cr:examples", "@type": "@json"},
    "samplingRate": "cr:samplingRate", "replace": "cr:replace", "sc": "https://schema.org/", "separator": "cr:separator", "source": "cr:source",
    "subField": "cr:subField", "transform": "cr:transform",
}  # fmt: skip
"""The context of Croissant 1.0. Its addresses are names of vocabularies; nothing is fetched from them."""

_TYPES = {"string": "sc:Text", "int32": "sc:Integer", "float64": "sc:Float", "bool": "sc:Boolean"}


@dataclass(frozen=True, slots=True)
class Table:
    """One Parquet file of a release.

    Attributes:
        config: Its config.
        split: Its split.
        path: Path in the release.
        sha256: Digest of its bytes.
        columns: Its features, in the form of a card's `dataset_info`.
        n_rows: Its rows.
        n_bytes: Its size in memory.
    """

    config: str
    split: str
    path: str
    sha256: str
    columns: Sequence[Mapping[str, Any]]
    n_rows: int = 0
    n_bytes: int = 0


def describe_set(
    name: str, description: str, license_id: str, version: str, date: str, tables: Sequence[Table]
) -> dict[str, Any]:
    """The Croissant description of a release; empty facts are left out.

    Source: Croissant Format Specification 1.0, MLCommons.
    """
    facts = {"license": license_id, "datePublished": date}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": name,
        "description": description,
        "citeAs": f"{name} v{version}",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **{key: value for key, value in facts.items() if value},
        "version": version,
        "distribution": [_file(table) for table in tables],
        "recordSet": [_records(table) for table in tables],
    }


def _file(table: Table) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": table.path,
        "name": table.path,
        "contentUrl": table.path,
        "encodingFormat": "application/x-parquet",
        "sha256": table.sha256,
    }


def _records(table: Table) -> dict[str, Any]:
    name = f"{table.config}-{table.split}"
    fields = [_field(f"{name}/{column['name']}", column, table.path) for column in table.columns]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(name: str, column: Mapping[str, Any], path: str, top: str = "") -> dict[str, Any]:
    """A column; parts of a structure are sub-fields that come from the same column."""
    source = {"fileObject": {"@id": path}, "extract": {"column": top or column["name"]}}
    inner = column.get("list") or column.get("struct")
    field: dict[str, Any] = {"@type": "cr:Field", "@id": name, "name": name}
    if column.get("list"):
        field["repeated"] = True
    if isinstance(inner, list):
        parts = [_field(f"{name}/{part['name']}", part, path, top or column["name"]) for part in inner]
        return {**field, "source": source, "subField": parts}
    return {**field, "dataType": _TYPES[inner or column["dtype"]], "source": source}
