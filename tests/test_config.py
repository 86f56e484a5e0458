from pathlib import Path

import pytest

from builder.config import check_settings, load_settings
from builder.core.errors import BuilderError


def settings_file(folder: Path, text: str) -> Path:
    path = folder / "dataset.toml"
    path.write_text(text)
    return path


def test_values_replace_defaults(tmp_path: Path) -> None:
    settings = load_settings(
        settings_file(
            tmp_path,
            "[stratify]\nsize = 150\nfloors = { long_range = 20 }\n[synthesize]\ndistances = [4, 6]\n",
        )
    )
    assert settings.stratify.size == 150
    assert settings.stratify.floors == (("long_range", 20),)
    assert settings.synthesize.distances == (4, 6)
    assert settings.set.seed == 13


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[stratify]\nsise = 3", r"dataset.toml: \[stratify\] unknown key sise; did you mean size\?"),
        ("[stratfy]\nsize = 3", r"dataset.toml: unknown section \[stratfy\]; did you mean stratify\?"),
        ("[stratify]\nsize = 'many'", r"\[stratify\] size: expects int, got 'many'; give an int"),
        ("[stratify]\nsize = -1", r"\[stratify\] size: is negative \(-1\); give 0 or more"),
        ("size = ", "not TOML"),
    ],
)
def test_a_wrong_setting_is_named_with_its_remedy(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BuilderError, match=message) as raised:
        load_settings(settings_file(tmp_path, text))
    assert raised.value.code == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[redact]\nkinds = ["emial"]', r'\[redact\] kinds: unknown name "emial"; did you mean email\?'),
        ('[classify]\nmethod = "magic"', r'\[classify\] method: unknown name "magic"; one of encoder, rules'),
        ('[set]\nname = "../evil name"', r'\[set\] name: "../evil name" is no folder name; use letters'),
    ],
)
def test_a_misspelt_choice_switches_nothing_off_in_silence(tmp_path: Path, text: str, message: str) -> None:
    settings = load_settings(settings_file(tmp_path, text))
    with pytest.raises(BuilderError, match=message):
        check_settings(settings, "dataset.toml")
