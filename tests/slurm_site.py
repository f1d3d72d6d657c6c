"""A real Slurm on the loopback: munged, slurmctld and a slurmd for each node, in a folder of their own, ended by pid.

GPUs are `gres` of terminals, which every machine has: Slurm refuses a count alone.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests import left_over
from tests.lab.system import signal_all
from tests.patience import ENOUGH, soon
from tests.ports import free_port
from tests.real import require

_ASKED_EVERY_SECONDS = 0.25
REST_VERSION = "v0.0.38"
"""The newest that slurmrestd 22.05 has."""
PROGRAMS = ("munged", "slurmctld", "slurmd", "squeue", "scontrol", "sbatch", "srun", "slurmrestd", "setpriv")
_CONF = (Path(__file__).parent / "daemons" / "slurm.conf").read_text()


class Slurm:
    """One cluster. `folder` must be short: a socket's path has 107 characters."""

    def __init__(self, folder: Path, nodes: Sequence[str], topology: str) -> None:
        self.folder, self.nodes = folder, tuple(nodes)
        self._running: list[subprocess.Popen[bytes]] = []
        for name in ("state", *(f"spool-{node}" for node in nodes)):
            (folder / name).mkdir()
        rows = [
            f"NodeName={node} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={free_port()} CPUs=16 "
            "RealMemory=100 Gres=gpu:h100:8"
            for node in nodes
        ]
        conf = _CONF.format(
            host=socket.gethostname(), port=free_port(), folder=folder, nodes="\n".join(rows), all_nodes=",".join(nodes)
        )
        (folder / "slurm.conf").write_text(conf)
        (folder / "gres.conf").write_text(f"NodeName={','.join(nodes)} Name=gpu Type=h100 File=/dev/tty[0-7]\n")
        (folder / "topology.conf").write_text(topology)
        self.prolog("exit 0")
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def prolog(self, script: str) -> None:
        """What each node runs before a job."""
        file = self.folder / "prolog.sh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    def start(self) -> None:
        """Starts all daemons, and waits until every node is idle."""
        folder, socket_file = self.folder, self.folder / "munge.sock"
        self._start(
            "munged", "--foreground", "--force", f"--socket={socket_file}", f"--key-file={folder}/munge.key",
            f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed",
        )  # fmt: skip
        soon(socket_file.exists, "munged listens")
        self._start("slurmctld", "-D", "-c")
        for node in self.nodes:
            self._start("slurmd", "-D", "-N", node)
        self.wait(lambda: self.run("sinfo", "-h", "-o", "%T", check=False).split() == ["idle"], "every node is idle")

    def rest(self) -> str:
        """Starts slurmrestd, which refuses to run as root and takes a local user's connection; gives its address."""
        for path in (self.folder, self.folder / "munge.sock"):
            path.chmod(0o777)
        listens = self.folder / "rest.sock"
        nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        plugins = ("-a", "rest_auth/local", "-s", f"openapi/{REST_VERSION}")
        self._start(*nobody, shutil.which("slurmrestd") or "slurmrestd", *plugins, f"unix:{listens}")
        soon(listens.exists, "slurmrestd listens")
        return f"unix:{listens}"

    def _start(self, program: str, *words: str) -> None:
        path = shutil.which(program) or program
        with (self.folder / f"{program}.out").open("ab") as out:
            self._running.append(
                subprocess.Popen([path, *words], env=self.environment, stdout=out, stderr=out, start_new_session=True)
            )

    def run(self, *words: str, check: bool = True) -> str:
        """What a client prints; without `check` nothing where it fails."""
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False, timeout=ENOUGH, cwd=self.folder
        )
        assert not check or done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout if done.returncode == 0 else ""

    def wait(self, true: Callable[[], object], what: str) -> None:
        """Waits until something is true, without keeping slurmctld busy with the question."""

        def asked() -> object:
            time.sleep(_ASKED_EVERY_SECONDS)
            return true()

        soon(asked, what)

    def submit(self, *options: str) -> str:
        """Submits a job that sleeps, and gives its id."""
        return self.run("sbatch", "--parsable", "-o", "/dev/null", *options, "--wrap", "sleep 600").strip()

    def state(self, job: str) -> str:
        """The state of a job."""
        return self.run("squeue", "-h", "-j", job, "-o", "%T", check=False).strip()

    def stop(self) -> None:
        """Ends all jobs, then the daemons."""
        self.run("scancel", "--user=root", check=False)
        with suppress(AssertionError):
            self.wait(lambda: not self.run("squeue", "-h", check=False).strip(), "no job is left")
        for process in reversed(self._running):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + ENOUGH / 10
        for process in self._running:
            try:
                process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        signal_all([*left_over.with_environment(f"SLURM_CONF={self.folder}/slurm.conf\0")], signal.SIGKILL)  # steps


@contextmanager
def slurm(folder: Path, nodes: Sequence[str], topology: str) -> Iterator[Slurm]:
    """A running cluster."""
    require(*PROGRAMS, root=True)
    site = Slurm(folder, nodes, topology)
    try:
        site.start()
        yield site
    finally:
        site.stop()
