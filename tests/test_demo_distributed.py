"""`truerail demo --distributed`: real processes over a real bus, each role killed once, and the page goes on."""

import re
import signal
from pathlib import Path

import pytest

from tests.demo_process import get, logs, running
from tests.patience import ENOUGH
from tests.real import require

pytestmark = pytest.mark.timeout(180)  # several services start, each with all that it imports

FOLLOWED = (
    r"✗ poller-1 is killed",
    r"✓ poller-2 has asked all \d+ devices, \d+\.\d s after that",
    r"✗ judge-\d is killed",
    r"✓ judge-\d leads, and front-1 shows its evaluation",
    r"✗ front-1 is killed",
    r"✓ front-2 answers",
    r"✓ front-1 has the whole view again",
    r"All parts run again\.",
)


def test_one_of_each_role_is_killed_and_the_page_goes_on(tmp_path: Path) -> None:
    require("nats-server")
    with running(tmp_path / "demo", "--distributed", "--hosts", "8", "--pause", "0") as (process, front):
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        other = next(line.split()[1] for line in lines if line.startswith("  Open "))
        for wanted in FOLLOWED:
            assert any(re.search(wanted, line) for line in lines), (
                wanted,
                process.communicate(),
                logs(tmp_path / "demo"),
            )
        assert [get(f"{url}readyz")[0] for url in (front, other)] == [200, 200]
        assert get(f"{front}api/v1/fabric")[0] == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=ENOUGH)
        assert (process.returncode, err) == (0, "")
        assert f"The logs of all parts are in {tmp_path / 'demo'}" in out
    written = logs(tmp_path / "demo")
    assert {"bus.log", "judge-1.log", "judge-2.log", "poller-2.log", "front-1.log"} <= written.keys()
    assert not [name for name, text in written.items() if "Traceback" in text]
