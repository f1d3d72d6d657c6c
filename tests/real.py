"""Real components for tests. A missing one skips its tests, aloud; with TRUERAIL_REQUIRE_REAL=1 it fails them."""

import os
import shutil

import pytest


def require(*programs: str, root: bool = False) -> None:
    """Skips the test where a program is missing or root is needed; fails it where real components are required."""
    missing = [f"{program} is not installed" for program in programs if not shutil.which(program)]
    if root and os.geteuid() != 0:
        missing.append("root is needed")
    if missing:
        give_up(", ".join(missing))


def give_up(why: str) -> None:
    """Skips the test, or fails it where real components are required."""
    if os.environ.get("TRUERAIL_REQUIRE_REAL") == "1":
        pytest.fail(f"a real component is required: {why}")
    pytest.skip(why)
