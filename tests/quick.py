"""`make quick`: names the test modules that a change concerns, and those of all parsers and rules; no daemon is driven.

A module is concerned if it changed since the branch left main, or imports, itself or by a helper in `tests/`, what
changed.
"""

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALWAYS = {
    *("recordings", "plans_recorded", "inventories_recorded", "mistakes", "corpus", "corpus_index"),
    *("rules_cases", "collectors_found", "causes", "shape"),
}
"""What every change runs: each recorded answer and file, each case of a rule, the causes, and the shape of the tree."""
REAL = {"tests.real"}
"""Who imports this drives daemons, browsers and other programs."""
_IMPORT = re.compile(r"^ *(?:from ([\w.]+) )?import (\([^)]*\)|[^\n#]*)", re.MULTILINE)


def changed() -> set[str]:
    """Modules, as they are imported, that differ from main, committed or not."""
    start = _git("merge-base", "HEAD", "origin/main") or ["HEAD"]
    files = _git("diff", "--name-only", *start) + _git("ls-files", "--others", "--exclude-standard")
    return {".".join(Path(file).with_suffix("").parts).removesuffix(".__init__") for file in files}


def _git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()


@cache
def imported(module: str) -> frozenset[str]:
    """A module of `tests/` and what it imports, itself or by another one there; nothing for modules elsewhere."""
    file = ROOT / f"tests/{module.removeprefix('tests.')}.py"
    if not file.exists():
        return frozenset()
    found = set()
    for source, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
        words = re.findall(r"[\w.]+", names)
        found |= {source, *(f"{source}.{word}" for word in words)} if source else set(words)
    helpers = (imported(name) for name in found if name != module)
    return frozenset({f"tests.{file.stem}"}.union(found, *helpers))


def modules() -> list[str]:
    """The files for pytest."""
    touched = changed()
    found = []
    for file in sorted(ROOT.glob("tests/test_*.py")):
        needs = imported(f"tests.{file.stem}")
        if (needs & touched or file.stem.removeprefix("test_") in ALWAYS) and not needs & REAL:
            found.append(f"tests/{file.name}")
    return found


if __name__ == "__main__":
    print(" ".join(modules()))
