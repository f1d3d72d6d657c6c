"""What an SNMP walk of a 64-port switch costs the client, with both engines, v2c and v3.

    python -m benchmarks.transport.snmp

The switch is real: net-snmp's snmpd with lldpd as its AgentX sub-agent, 64 veth ports in a network namespace, each with
a neighbour. The client is a process of its own in that namespace, so that its CPU time is the walk's alone. Needs root.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from collector import collectors
from collector.formats.mib import SWITCH
from truerail.model import Device, Role, Secret, SnmpAccess, Target
from truerail.transport.snmp_client import REPETITIONS
from truerail.transport.snmp_transport import SnmpTransport

PORTS = 64
LEAF = Device("leaf-0", Role.LEAF)
WALKS = {"gufo": 200, "pysnmp": 15}
V3 = "sha256-aes128"
METHOD = """\
One walk reads what truerail asks of a switch: ports, neighbours and management addresses of LLDP-MIB and nine columns
of IF-MIB, {rows:,} rows for {ports} ports, by GETBULK of {step}. The agent is real: net-snmp's snmpd with lldpd as its
AgentX sub-agent, {ports} veth ports with a neighbour each, on the loopback of a network namespace; the client is a
process of its own there. CPU is the client's, for packets, decoding, decryption and text. Wall time is mostly the
agent's. Reading is the CPU of both collectors on the text."""
NEEDED = ("snmpd", "lldpd", "lldpcli", "ip", "unshare")


@dataclass(frozen=True, slots=True)
class Cost:
    """One engine with one login: rows of a walk; milliseconds for a walk, its text, and reading the text."""

    engine: str
    login: str
    rows: int
    cpu_ms: float
    wall_ms: float
    read_ms: float

    @property
    def rows_per_cpu_second(self) -> float:
        return self.rows / self.cpu_ms * 1000


def daemons() -> Any:
    """tests/snmpd.py, which runs real agents."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
    return import_module("snmpd")


def access(engine: str, login: str, port: int) -> SnmpAccess:
    """How the agent of tests/snmpd.py is asked."""
    if login == "v2c":
        return SnmpAccess(community=Secret("env", "COMMUNITY"), port=port, engine=engine)
    auth, _, privacy = V3.partition("-")
    return SnmpAccess(
        "3", None, V3, auth, Secret("env", "AUTH"), privacy, Secret("env", "PRIVACY"), port=port, engine=engine
    )


async def cost(engine: str, login: str, port: int) -> Cost:
    """Walks the switch again and again, after a first walk that makes engine and keys."""
    transport = SnmpTransport()
    target = Target("leaf-0", "127.0.0.1", snmp=access(engine, login, port), timeout_seconds=30.0)
    (answer,) = await transport.ask(target, (SWITCH.text,))
    if answer.error:
        raise RuntimeError(answer.error)
    times = WALKS[engine]
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in range(times):
        await transport.ask(target, (SWITCH.text,))
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    await transport.close()
    rows = answer.text.count("\n")
    return Cost(engine, login, rows, 1000 * cpu / times, 1000 * wall / times, 1000 * reading(answer.text))


def reading(text: str) -> float:
    """CPU seconds for both readers to read a walk; the switch must have all its neighbours."""
    heard = collectors()["lldp_snmp"].read(text, LEAF)
    if len(heard) != PORTS:
        raise RuntimeError(f"{len(heard)} neighbours instead of {PORTS}")
    started = time.process_time()
    for _ in range(20):
        for name in ("lldp_snmp", "if_snmp"):
            collectors()[name].read(text, LEAF)
    return (time.process_time() - started) / 20


def measured(folder: Path) -> list[Cost]:
    """The cost of each engine and login on a switch of real daemons."""
    real = daemons()
    secrets = {"COMMUNITY": real.COMMUNITY, "AUTH": real.AUTH, "PRIVACY": real.PRIVACY}
    with real.switch(folder, PORTS) as agent:
        found = []
        for engine in WALKS:
            for login in ("v2c", "v3"):
                inside = ["ip", "netns", "exec", agent.namespace, sys.executable, "-m", "benchmarks.transport.snmp"]
                done = subprocess.run(  # noqa: S603 - this file again
                    [*inside, engine, login, str(agent.port)],
                    env={**os.environ, **secrets},
                    capture_output=True,
                    text=True,
                    timeout=300,
                    check=True,
                )
                found.append(Cost(**json.loads(done.stdout)))
        return found


def section() -> str:
    """The chapter on SNMP for benchmarks/results/live-performance.md, measured now, or the reason why it cannot be."""
    missing = [program for program in NEEDED if not shutil.which(program)]
    if missing or os.geteuid() != 0:
        why = f"{', '.join(missing)} not installed" if missing else "root is needed"
        return f"## SNMP\n\nNot measured: {why}.\n"
    with tempfile.TemporaryDirectory(prefix="truerail-bench-") as folder:
        Path(folder).chmod(0o755)  # lldpcli gives up root for its own user, who must reach the socket
        return text(measured(Path(folder)))


def text(costs: list[Cost]) -> str:
    """The chapter as Markdown."""
    lines = [
        "## SNMP",
        "",
        METHOD.format(rows=costs[0].rows, ports=PORTS, step=REPETITIONS),
        "",
        "| engine | login | CPU a switch | wall | rows a CPU second | reading | 1,000 switches, CPU with reading |",
        "|---|---|---:|---:|---:|---:|---:|",
        *(
            f"| {one.engine} | {one.login} | {one.cpu_ms:.1f} ms | {one.wall_ms:.0f} ms "
            f"| {one.rows_per_cpu_second:,.0f} | {one.read_ms:.1f} ms | {one.cpu_ms + one.read_ms:.1f} s |"
            for one in costs
        ),
        "",
        "v3 is SHA-256 and AES-128. The last column is a projection: the cost of one switch times 1,000.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) == 4:
        sys.stdout.write(json.dumps(asdict(asyncio.run(cost(sys.argv[1], sys.argv[2], int(sys.argv[3]))))))
    else:
        sys.stdout.write(section())
