"""`truerail licenses`: the licenses of truerail, of Python and of all packages that are installed with them.

Read from the metadata of what is installed: License-Expression, else License, else the classifiers
(https://packaging.python.org/specifications/core-metadata/). The texts are the license files that a package brings. The
container image is built with this output in `/opt/truerail/share/doc/truerail/THIRD-PARTY-NOTICES`.
"""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from truerail.cli import terminal_output
from truerail.errors import CommandError

_FILES: Final = re.compile(r"(licen[cs]e|copying|notice|copyright)", re.IGNORECASE)
_SUFFIXES: Final = frozenset(("", ".md", ".rst", ".txt"))
_LIBRARY: Final = re.compile(r"^[\w.-]+\.libs/(?P<name>[A-Za-z_+]+[\d_]*).*\.so")
"""A shared library that a wheel brings along, without the hash and version behind its name."""
_RULE: Final = "=" * 80


class Notice(NamedTuple):
    """One package: what it is licensed under, where it comes from, and the texts that it brings by their names."""

    name: str
    version: str
    license: str
    home: str = ""
    libraries: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


def licenses(
    names: Annotated[bool, typer.Option("--names", help="One line for each package, without the texts.")] = False,
) -> None:
    """Print the licenses of truerail, Python and every package that is installed with them, with their texts.

    A package that names no license and brings no text is an error.
    """
    from importlib.metadata import distributions

    found = notices(distributions())
    terminal_output.say("\n".join(map(_line, found) if names else _pages(found)))


def notices(installed: Iterable[Distribution]) -> list[Notice]:
    """Python and each package, by name. Raises CommandError for packages without a license."""
    made = {one.name.lower(): one for one in map(notice, installed)}
    if bare := [f"{one.name} {one.version}" for one in made.values() if not (one.license or one.texts)]:
        raise CommandError(f"no license is named by {', '.join(sorted(bare))}: replace it, or ask its authors for one")
    return [_python(), *(made[name] for name in sorted(made))]


def notice(package: Distribution) -> Notice:
    """A package from its metadata."""
    meta, paths = package.metadata, package.files or []
    texts = tuple(
        (str(path), Path(str(path.locate())).read_text(encoding="utf-8", errors="replace").strip())
        for path in paths
        if _FILES.search(path.name) and path.suffix.lower() in _SUFFIXES and ".dist-info/" in str(path)
    )
    libraries = sorted({found["name"].rstrip("_-") for path in paths if (found := _LIBRARY.match(str(path)))})
    return Notice(meta["Name"], meta["Version"], _license(package), _home(package), tuple(libraries), texts)


def _license(package: Distribution) -> str:
    """What the metadata names: an SPDX expression, the field if it is no whole text, or classifiers."""
    stated, free = _fields(package, "License-Expression"), _fields(package, "License")
    short = [one for one in free if one != "UNKNOWN" and "\n" not in one]
    classifiers = [one.rpartition(" :: ")[2] for one in _fields(package, "Classifier") if one.startswith("License ::")]
    return ", ".join(stated or short or classifiers)


def _home(package: Distribution) -> str:
    urls = [one.partition(", ")[2] for one in _fields(package, "Project-URL")]
    return next(iter((*_fields(package, "Home-page"), *urls)), "")


def _fields(package: Distribution, name: str) -> list[str]:
    return [text for one in package.metadata.get_all(name) or () if (text := str(one).strip())]


def _python() -> Notice:
    """The interpreter, with the text that it installs beside its library."""
    import platform
    import sysconfig

    file = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    texts = ((file.name, file.read_text(encoding="utf-8").strip()),) if file.is_file() else ()
    return Notice("Python", platform.python_version(), "PSF-2.0", "https://www.python.org/", texts=texts)


def _line(one: Notice) -> str:
    return f"{one.name} {one.version}  {one.license or 'see its text'}"


def _pages(found: list[Notice]) -> Iterator[str]:
    """All packages; a text that several bring stands once."""
    first: dict[str, str] = {}
    for one in found:
        yield from (_RULE, _line(one), *filter(None, (one.home,)))
        if one.libraries:
            yield f"brings the shared libraries {', '.join(one.libraries)}"
        for path, text in one.texts:
            before = first.get(text)
            first.setdefault(text, f"{one.name} {one.version}: {path}")
            yield f"\n--- {path}\n{f'As in {before}.' if before else text}"
        yield ""
