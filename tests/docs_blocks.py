"""The documentation as tests see it: fenced blocks, what is said about running them, headings and links."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GUIDES = [
    ROOT / "README.md",
    *(page for of in ("docs", "benchmarks/results") for page in sorted((ROOT / of).glob("*.md"))),
]
"""The pages whose commands are run."""
SHELL = ("sh", "console")
_FENCE = re.compile(r"^ *```(?P<language>\w*)$")
_NOT_RUN = re.compile(r"^<!-- not run: (?P<why>[\w ,]+) -->$")
_PROSE = re.compile(r"```.*?```|<!--.*?-->", re.DOTALL)


def _pages() -> Iterator[Path]:
    for folder, inside, files in os.walk(ROOT):
        inside[:] = [name for name in inside if name != "recordings" and not name.startswith((".", "__"))]
        yield from (Path(folder, name) for name in files if name.endswith(".md"))


PAGES = sorted(_pages())
"""Every page that a reader may follow a link to or from."""


@dataclass(frozen=True)
class Block:
    """One fenced block. `line` is that of its fence, `not_run` says why its commands are only parsed, else empty."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str

    @property
    def where(self) -> str:
        """`docs/live.md:8`."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def lines(self) -> list[str]:
        """Commands, a continued one as one line; without comments, which begin with two blanks and `#`, or the line."""
        joined = self.text.replace("\\\n", " ").splitlines()
        plain = (re.sub(r"(^|\s{2,})# .*$", "", line).strip() for line in joined)
        return [line for line in plain if line]

    @property
    def sessions(self) -> list[tuple[str, list[str]]]:
        """Of a `console` block: each command behind its `$`, and the lines shown under it."""
        found: list[tuple[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                assert found, f"{self.where}: output stands above the first `$ `"
                found[-1][1].append(line)
        return found


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    """All fenced blocks of a page. `<!-- not run: WHY -->` stands above a fence, or under the title for all."""
    lines = page.read_text(encoding="utf-8").splitlines()
    whole = next((found["why"] for line in lines[1:3] if (found := _NOT_RUN.match(line))), "")
    return tuple(_blocks(page, lines, whole))


def _blocks(page: Path, lines: list[str], whole: str) -> Iterator[Block]:
    opened, language, indent = 0, "", 0
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if not fence:
            continue
        if not opened:
            opened, language, indent = number, fence["language"], line.index("`")
            continue
        above = _NOT_RUN.match(lines[opened - 2].strip())
        text = "\n".join(inner[indent:] for inner in lines[opened : number - 1])
        yield Block(page, opened, language, text, above["why"] if above else whole)
        opened = 0
    assert not opened, f"{page}:{opened}: this fence is not closed"


def prose(page: Path) -> str:
    """A page without its fenced blocks and comments."""
    return _PROSE.sub("", page.read_text(encoding="utf-8"))


def inline_code(page: Path) -> list[str]:
    """What stands in single backquotes."""
    return re.findall(r"`([^`]+)`", prose(page).replace("\n", " "))


def links(page: Path) -> list[str]:
    """Where a page leads within the repository: `plan.md#node-sets`, `#systemd`, `images/host.png`."""
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page)))
    return [link for link in found if "://" not in link and not link.startswith("mailto:")]


@cache
def anchors(page: Path) -> frozenset[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings)
