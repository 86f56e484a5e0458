"""The data files that the package carries: schemas, lexicons, prompts, templates, weights."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def schemas_folder() -> Path:
    """The folder of the JSON Schemas: beside the package in a checkout, inside it in a wheel."""
    inside = PACKAGE / "schemas"
    return inside if inside.is_dir() else PACKAGE.parent / "schemas"
