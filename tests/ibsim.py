"""A simulated InfiniBand fabric that the tools of infiniband-diags walk: Debian's ibsim, umad2sim preloaded."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from tests.patience import soon
from tests.real import give_up, require

LARGE = ("-N", "4096", "-S", "512", "-P", "65536")
"""Room for nodes, switches and ports."""


@dataclass(frozen=True)
class Ibsim:
    """A fabric that runs. `socket` is the name under which the tools find it, and no other test's tools."""

    socket: str

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "IBSIM_SOCKNAME": self.socket, "PATH": f"{os.environ['PATH']}:/usr/sbin"}

    def answer(self, *command: str) -> str:
        """What a tool prints about the fabric."""
        done = self.run(*command)
        if done.returncode:
            give_up(f"{' '.join(command)} does not answer: {done.stderr}")
        return done.stdout

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["ibsim-run", *command], env=self.environment, capture_output=True, text=True, check=False, timeout=60
        )


@contextmanager
def ibsim(folder: Path, listing: str) -> Iterator[Ibsim]:
    """Simulates the fabric of a listing that `ibnetdiscover` could have printed; ended with the block."""
    require("ibsim", "ibsim-run", "ibnetdiscover", "iblinkinfo")
    (folder / "net").write_text(listing)
    fabric = Ibsim(f"truerail-{uuid4().hex[:12]}")
    with (folder / "ibsim.log").open("w") as log:
        process = subprocess.Popen(
            ["ibsim", "-s", "-n", *LARGE, "net"],
            cwd=folder, env=fabric.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            soon(lambda: fabric.run("ibnodes").returncode == 0)
            yield fabric
        finally:
            process.kill()
            process.wait()
