"""Syslog: lines as a real rsyslogd reads them over UDP and TCP, and as a TLS server gets them."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import real
from tests.draws import draws
from tests.fault_scenes import CRITICAL, fault, seen
from tests.patience import soon
from tests.ports import free_port, refusing_port
from tests.receiving import syslog_server
from tests.test_access_serve import certificate
from truerail.errors import DeliveryError
from truerail.service.notify import syslog_channel
from truerail.service.notify.fault_news import message_of_test, news_of
from truerail.service.notify.notification import Notification
from truerail.service.notify.syslog_channel import SyslogChannel
from truerail.service.notify.syslog_lines import MOST_BYTES, syslog_line
from truerail.service.notify_settings import Syslog

CONFIGURATION = """
module(load="imudp")
module(load="imtcp")
module(load="mmpstrucdata")
input(type="imudp" address="127.0.0.1" port="{port}")
input(type="imtcp" address="127.0.0.1" port="{port}")
template(name="line" type="list") {{
  property(name="jsonmesg")
  constant(value="\\n")
}}
action(type="mmpstrucdata")
action(type="omfile" file="{folder}/lines" template="line")
"""


def message(**changes: Any) -> Notification:
    return news_of(seen(replace(fault(), **changes)), {}, ("", "p1"))[0][0].model_copy(update={"id": "7"})


@contextmanager
def rsyslog(folder: Path) -> Iterator[tuple[int, Callable[[], list[Any]]]]:
    """Debian's rsyslogd on a port of UDP and TCP: the messages that it has read, as JSON."""
    real.require("rsyslogd")
    port, lines = free_port(), folder / "lines"
    (folder / "rsyslog.conf").write_text(CONFIGURATION.format(port=port, folder=folder))
    command = ["rsyslogd", "-n", "-f", str(folder / "rsyslog.conf"), "-i", str(folder / "pid")]

    def read() -> list[Any]:
        return [json.loads(line) for line in lines.read_text().split("\n")[:-1]] if lines.exists() else []

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            soon(lambda: _listens(port), "rsyslogd listens")
            yield port, read
        finally:
            process.terminate()


def _listens(port: int) -> bool:
    sockets = (Path(f"/proc/net/{kind}").read_text() for kind in ("tcp", "udp"))
    return all(f":{port:04X} 00000000:0000" in text for text in sockets)


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_rsyslogd_reads_all_fields(tmp_path: Path, transport: str) -> None:
    hostile = 'p"1]\\ x'
    with rsyslog(tmp_path) as (port, read):
        channel = SyslogChannel(Syslog(address=f"{transport}://127.0.0.1:{port}", facility="local3"))
        for number in (1, 2):
            channel.send(message(rack=hostile, unit=str(number)))
        soon(lambda: len(read()) == 2, "both lines")
        first, second = read()
    assert (first["syslogfacility"], first["syslogseverity"]) == ("19", "2"), "local3, crit"
    assert (first["programname"], first["msgid"], first["hostname"]) == ("truerail", "began", os.uname().nodename)
    assert first["timereported"].startswith("2026-11-20T14:00:00")
    (fields,) = first["$!"]["rfc5424-sd"].values()
    assert fields == {
        "id": "7",
        "event": "began",
        "fabric": "lab",
        "severity": "critical",
        "kind": "cable-swap",
        "fault": "000000000001",
        "subject": "gpu-001/nica, gpu-001/nicb",
        "pod": "p1",
        "rack": hostile,
        "unit": "1",
        "gpus": "2",
        "hosts": "1",
        "since": "2026-11-20T13:50:00+00:00",
        "findings": "2",
        "page": "https://truerail.example.net/causes/000000000001",
    }
    assert first["msg"].startswith("Two cables are swapped began: The cables of gpu-001 are swapped; gpu-001/nica")
    assert second["$!"]["rfc5424-sd"]["truerail@32473"]["unit"] == "2"


def test_over_tls_the_certificate_is_checked_and_a_frame_has_its_length(tmp_path: Path) -> None:
    tls = certificate(tmp_path)
    with syslog_server(tls) as (port, frames):
        address = f"tls://127.0.0.1:{port}"
        SyslogChannel(Syslog(address=address, ca=Path(tls["certificate"]))).send(message())
        assert frames.get(timeout=60).startswith(b"<26>1 2026-11-20T14:00:00.000000Z ")
        with pytest.raises(DeliveryError, match="certificate is not trusted"):
            SyslogChannel(Syslog(address=address)).send(message())
        with pytest.raises(DeliveryError, match=r"127\.0\.0\.1:1: "):
            SyslogChannel(Syslog(address="tls://127.0.0.1:1", ca=tmp_path / "none.pem")).send(message())
    assert frames.empty()


def test_a_server_that_takes_a_message_and_stays_open_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syslog_channel, "TIMEOUT_SECONDS", 0.1)
    with syslog_server(closes=False) as (port, frames):
        SyslogChannel(Syslog(address=f"tcp://127.0.0.1:{port}")).send(message())
        assert b"cable-swap" in frames.get(timeout=60)


def test_a_server_that_is_down_is_a_reason() -> None:
    with refusing_port() as port, pytest.raises(DeliveryError, match=f"127.0.0.1:{port}: Connection refused"):
        SyslogChannel(Syslog(address=f"tcp://127.0.0.1:{port}")).send(message())


def test_severities_are_those_of_syslog() -> None:
    server = Syslog(address="udp://loghost")
    for one, number in ((message(severity=CRITICAL), 2), (message_of_test("lab", seen().at, "1", ""), 5)):
        assert syslog_line(one, server).startswith(b"<%d>1 " % (3 * 8 + number))


HEADER = rb"<\d{1,3}>1 [0-9TZ:.-]{27} [!-~]{1,255} truerail - began "
DATA = rb'\[truerail@9( [a-z]+="([^"\\\]]|\\["\\\]])*")+\]'
LINE = re.compile(HEADER + DATA + rb" .+")


@settings(max_examples=draws(15, 200))
@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=900))
def test_any_name_makes_one_line_of_rfc_5424(subject: str, rack: str, summary: str) -> None:
    line = syslog_line(
        message(subject=subject, rack=rack, summary=4 * summary), Syslog(address="udp://x", enterprise=9), "h ö"
    )
    assert LINE.fullmatch(line)
    assert len(line) <= MOST_BYTES
    assert not any(category(letter) == "Cc" for letter in line.decode())
