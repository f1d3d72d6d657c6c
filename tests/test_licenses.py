"""`truerail licenses`: every package that is pinned for use is named, with its license and its text."""

import re
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

from truerail.cli.licenses import licenses, notice, notices
from truerail.errors import CommandError

ROOT = Path(__file__).resolve().parent.parent
FOREIGN = re.compile(r"copyright|@license|sourceMappingURL|url\(\s*['\"]?https?:|from \"https?:", re.IGNORECASE)
PINNED = re.compile(r"^([\w.-]+)==[^;\n]*$", re.MULTILINE)


def flat(name: str) -> str:
    """A package's name in one spelling: https://packaging.python.org/specifications/name-normalization/"""
    return re.sub(r"[-_.]+", "-", name).lower()


def package(folder: Path, metadata: str, **files: str) -> Distribution:
    """An installed package of this metadata, with these files."""
    info = folder / "thing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n{metadata}")
    for name, text in files.items():
        (info / name).write_text(text)
    library = folder / "thing.libs/libpq-5a1.so.5"
    library.parent.mkdir()
    library.touch()
    (info / "RECORD").write_text("".join(f"{info.name}/{name},,\n" for name in files) + "thing.libs/libpq-5a1.so.5,,\n")
    return Distribution.at(info)


def test_every_package_that_is_pinned_for_use_is_named_with_its_license() -> None:
    pinned = PINNED.findall((ROOT / "requirements/run.txt").read_text())
    found = {flat(one.name): one for one in notices(distributions())}
    assert len(pinned) > 50
    assert {name for name in map(flat, pinned) if name not in found} == set()
    assert [name for name in map(flat, pinned) if not found[name].license and not found[name].texts] == []
    assert found["python"].texts or found["python"].license == "PSF-2.0"
    assert found["truerail"].license == "Apache-2.0"


@pytest.mark.parametrize(
    ("metadata", "stated"),
    [
        ("License-Expression: MIT\nLicense: other\n", "MIT"),
        ("License: BSD\n", "BSD"),
        ("License: UNKNOWN\nClassifier: License :: OSI Approved :: ISC License (ISCL)\n", "ISC License (ISCL)"),
        ("License: A text\n        of lines\nClassifier: License :: OSI Approved :: BSD License\n", "BSD License"),
        ("Classifier: Typing :: Typed\n", ""),
    ],
)
def test_a_license_is_what_the_metadata_names(tmp_path: Path, metadata: str, stated: str) -> None:
    found = notice(package(tmp_path, metadata, LICENSE="Do as you like."))
    assert (found.name, found.license, found.libraries) == ("thing", stated, ("libpq",))
    assert found.texts == (("thing-1.0.dist-info/LICENSE", "Do as you like."),)


def test_a_package_without_a_license_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"no license is named by thing 1\.0: replace it"):
        notices([package(tmp_path, "Home-page: https://example.com\n")])


def test_the_command_prints_each_text_once(capsys: pytest.CaptureFixture[str]) -> None:
    licenses(names=False)
    whole = capsys.readouterr().out
    assert "brings the shared libraries libgfortran" in whole
    assert re.search(r"^As in .+: .+\.$", whole, re.MULTILINE)
    licenses(names=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Python 3.")
    assert all("  " in line for line in lines)


def test_the_page_loads_nothing_that_others_wrote() -> None:
    """Scripts, styles, fonts and pictures of the page are ours: none names another author or address."""
    static = ROOT / "truerail/web/page/static"
    assert {path.suffix for path in static.rglob("*") if path.is_file()} <= {".js", ".css", ".svg", ".txt", ".json"}
    for path in static.rglob("*.[jcs]*"):
        text = path.read_text(encoding="utf-8")
        assert not FOREIGN.search(text), path
