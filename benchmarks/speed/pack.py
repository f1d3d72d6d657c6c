"""The cabling pack of whole fabrics: time and size of each file, and whether a scanner reads every label.

    python -m benchmarks.speed.pack [--write PAGE]

Every page of labels is rendered (poppler's pdftoppm) and scanned (zbar's zbarimg); the addresses that are read are
compared with those of the page's cables. Needs poppler-utils and zbar-tools.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from truerail.model import Plan
from truerail.outputs.pack import make_pack
from truerail.outputs.pack.cable_labels import address
from truerail.outputs.pack.sheets import GRIDS
from truerail.plans import loads, new_plan

BASE = "https://truerail.example.com"
DPIS = (150, 200, 300)


@dataclass(frozen=True, slots=True)
class Made:
    """One file: CPU seconds and megabytes. The first file's time includes the codes, which all labels share."""

    name: str
    cpu: float
    megabytes: float


def fabrics() -> Iterator[tuple[str, Plan]]:
    """Small, and 12,288 cables."""
    yield "64 hosts, 8 rails", loads(new_plan(64, 8, spines=8), ".yaml")
    yield "768 hosts, 8 rails", loads(new_plan(768, 8, pods=12, spines=64, uplinks=64, hosts_per_rack=4), ".yaml")


def make(plan: Plan, folder: Path) -> list[Made]:
    """Writes the pack and measures each file."""
    found, started = [], time.process_time()
    for name, content in make_pack(plan, BASE):
        (folder / name).write_bytes(content)
        found.append(Made(name, time.process_time() - started, len(content) / 1e6))
        started = time.process_time()
    return found


def scanned(labels: Path, wanted: list[str]) -> list[int]:
    """How many labels are read as wanted after each resolution, and last how often something else is read.

    A scanner overlooks some codes of a page at one resolution, as a camera does at one distance: such pages
    are scanned again at the next resolution.
    """
    per_page = GRIDS["a4"].columns * GRIDS["a4"].rows
    open_pages = {1 + at // per_page: Counter(wanted[at : at + per_page]) for at in range(0, len(wanted), per_page)}
    found, other = [], 0
    for dpi in DPIS:
        for page in list(open_pages):
            read = Counter(_page(labels, page, dpi))
            other += sum(1 for text in read if text not in wanted[(page - 1) * per_page : page * per_page])
            open_pages[page] -= read
            if not open_pages[page]:
                del open_pages[page]
        found.append(len(wanted) - sum(map(Counter.total, open_pages.values())))
    return [*found, other]


def _page(labels: Path, page: int, dpi: int) -> list[str]:
    """What a scanner reads on one page."""
    with tempfile.TemporaryDirectory() as folder:
        where = ["-f", str(page), "-l", str(page), "-singlefile", str(labels), f"{folder}/page"]
        subprocess.run(["pdftoppm", "-gray", "-r", str(dpi), *where], check=True)  # noqa: S603, S607 - our own command
        command = ["zbarimg", "--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", f"{folder}/page.pgm"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 - our own command; 4 if nothing is read
        return done.stdout.splitlines()


def measured() -> Iterator[str]:
    """The page, part by part."""
    yield "# The cabling pack, as measured\n\n"
    yield f"`make bench` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}.\n"
    yield "Absolute figures drift with the machine.\n\n"
    yield "| fabric | file | CPU s | MB |\n|---|---|---|---|\n"
    decoded = []
    for title, plan in fabrics():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for one in make(plan, folder):
                yield f"| {title}, {len(plan.cables):,} cables | {one.name} | {one.cpu:.1f} | {one.megabytes:.1f} |\n"
            wanted = [address(cable, BASE) for cable in plan.cables for _ in cable[:2]]
            counted = " | ".join(f"{count:,}" for count in scanned(folder / "labels.pdf", wanted))
        decoded.append(f"| {title} | {len(wanted):,} | {counted} |\n")
    yield "\nEach code is computed once, for both ends; the time of `labels.pdf` includes that.\n"
    yield "\nEvery page of labels rendered and read by zbar; pages with unread codes again at the next resolution:\n\n"
    heads = " | ".join(f"read by {dpi} dpi" for dpi in DPIS)
    yield f"| fabric | labels | {heads} | read otherwise |\n|---|---|---|---|---|---|\n"
    yield from decoded


def main() -> None:
    """Measures, prints, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    wanted = parser.parse_args()
    text = "".join(measured())
    sys.stdout.write(text)
    if wanted.write:
        wanted.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
