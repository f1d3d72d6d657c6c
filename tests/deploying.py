"""What the tests of deploy/ share: its files, and the validators, which have an environment of their own."""

import os
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.real import give_up

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
TOOLS = ROOT / ".venv-deploy" / "bin"


def tool(name: str, *arguments: object, cwd: Path = DEPLOY, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a validator of requirements/deploy.txt, offline."""
    if not (TOOLS / name).exists():
        give_up(f"{name} is not installed: requirements/setup.sh deploy")
    return run(TOOLS / name, *arguments, cwd=cwd, **{"PATH": f"{TOOLS}:{os.environ['PATH']}", **environment})


def run(*command: object, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in an environment of its own."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def passes(done: subprocess.CompletedProcess[str]) -> str:
    """Standard output of a command that must end well."""
    assert done.returncode == 0, f"{done.args[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def document(path: Path) -> Any:
    """The one document in a YAML file."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
