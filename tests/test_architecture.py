"""The rooms, what each may import, and how large its parts may be."""

import ast
from pathlib import Path

import pytest

BUILDER = Path(__file__).resolve().parent.parent / "builder"
MODULES = sorted(BUILDER.rglob("*.py"))

MAY_IMPORT = {
    "core": {"core"},
    "text": {"core", "text"},
    "model": {"core", "text", "model"},
    "formats": {"core", "formats"},
    "stages": {"core", "text", "model", "formats"},
    "scope": {"core", "text", "scope"},
    "scoring": {"core", "scoring"},
    "io": {"core", "io"},
    "config": {"core"},
    "pipeline": {"core", "text", "stages", "model", "io", "config", "pipeline"},
    "evaluate": {"core", "text", "scope", "scoring", "io", "config", "evaluate"},
    "__main__": {"cli"},
    "cli": {
        "core",
        "text",
        "stages",
        "formats",
        "model",
        "scope",
        "scoring",
        "io",
        "config",
        "pipeline",
        "evaluate",
        "cli",
    },
}
PLAIN = {"core"}
FORBIDDEN_NAMES = {"utils", "helpers", "common", "base", "manager", "misc"}


def room_of(path: Path) -> str:
    parts = path.relative_to(BUILDER).with_suffix("").parts
    return parts[0] if parts != ("__init__",) else "core"


def imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(BUILDER)))
def test_a_module_imports_only_what_its_room_may(path: Path) -> None:
    room = room_of(path)
    for name in imported(ast.parse(path.read_text())):
        parts = name.split(".")
        if parts[0] == "builder" and len(parts) > 1:
            assert parts[1] in MAY_IMPORT[room], f"{path} imports {name}"


@pytest.mark.parametrize("path", [p for p in MODULES if room_of(p) in PLAIN], ids=lambda p: p.name)
def test_core_needs_the_standard_library_only(path: Path) -> None:
    import sys

    for name in imported(ast.parse(path.read_text())):
        assert name.split(".")[0] in sys.stdlib_module_names | {"builder"}


@pytest.mark.parametrize("path", [p for p in MODULES if room_of(p) == "stages"], ids=lambda p: p.name)
def test_a_stage_never_imports_a_stage(path: Path) -> None:
    for name in imported(ast.parse(path.read_text())):
        assert not name.startswith("builder.stages"), f"{path} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(BUILDER)))
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert path.stem not in FORBIDDEN_NAMES
    assert len(text.splitlines()) <= 300, f"{path} is over 300 lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            docstring = ast.get_docstring(node, clean=False)
            length -= len(docstring.splitlines()) if docstring else 0
            assert length <= 50, f"{path}:{node.lineno} {node.name} has {length} lines"
