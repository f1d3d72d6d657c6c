"""Both SNMP engines against snmpsim, which plays recorded switches that no machine here has."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from collector import collectors
from collector.formats.mib import SWITCH
from tests.patience import ENOUGH, soon
from tests.ports import free_port
from truerail.model import Device, Secret, SnmpAccess, Target
from truerail.transport.snmp_transport import SnmpTransport

RECORDINGS = sorted((Path(__file__).parent / "recordings" / "lldp_snmp").glob("snmprec-*/answer.txt"))
WHOLE = [path for path in RECORDINGS if (path.parent / "facts.json").exists()]
RESPONDER = Path(sys.executable).with_name("snmpsim-command-responder")


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A responder with one switch for each recording; the community says which."""
    folder = tmp_path_factory.mktemp("snmpsim")
    for path in WHOLE:
        rows = sorted(path.read_text(encoding="utf-8").splitlines(), key=_oid)
        (folder / f"{path.parent.name}.snmprec").write_text("\n".join(rows) + "\n", encoding="utf-8")
    free = free_port()
    user = ("--process-user=root", "--process-group=root") if Path("/root").exists() and os.geteuid() == 0 else ()
    command = [
        str(RESPONDER), f"--data-dir={folder}", f"--cache-dir={folder / 'cache'}", *user,
        f"--agent-udpv4-endpoint=127.0.0.1:{free}", "--logging-method=null",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as responder:
        try:
            _wait_for(free, responder)
            yield free
        finally:
            responder.terminate()


def _oid(row: str) -> tuple[int, ...]:
    return tuple(map(int, row.partition("|")[0].split(".")))


def _wait_for(port: int, responder: "subprocess.Popen[bytes]") -> None:
    """Until the port is taken: a UDP server shows itself in no other way without being asked."""

    def taken() -> bool:
        assert responder.poll() is None, f"snmpsim does not start (exit status {responder.returncode})"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return True
        return False

    soon(taken, "snmpsim starts")


@pytest.mark.parametrize("engine", ["gufo", "pysnmp"])
@pytest.mark.parametrize("recording", WHOLE, ids=lambda path: path.parent.name)
def test_a_simulated_switch_tells_what_its_recording_tells(
    recording: Path, engine: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUERAIL_TEST_SIM", recording.parent.name)
    access = SnmpAccess(community=Secret("env", "TRUERAIL_TEST_SIM"), port=port, engine=engine)
    answer = asyncio.run(_ask(Target("leaf-0", "127.0.0.1", snmp=access, timeout_seconds=ENOUGH)))
    reader, device = collectors()["lldp_snmp"], Device("leaf-0")
    reported = reader.read(answer, device)
    assert reported == reader.read(recording.read_text(encoding="utf-8"), device)
    assert reported


async def _ask(target: Target) -> str:
    transport = SnmpTransport()
    try:
        (answer,) = await transport.ask(target, [SWITCH.text])
    finally:
        await transport.close()
    assert answer.error == ""
    return answer.text
