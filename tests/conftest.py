"""What holds for every test: no network but loopback, and property tests that do not depend on the machine's speed,
and draw the same examples in each run of the CI.
"""

import os
import socket
from ipaddress import ip_address
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "truerail",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # a second of wall time, whoever else takes of it
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("truerail")

_LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any connection that would leave the machine fails the test that makes it; no name but localhost is known."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError(f"a test connects to {address[0]}: only loopback is allowed")
        connect(self, address)

    def known(host: Any, *arguments: Any, **more: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name and name != "localhost" and not _is_address(name):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(host, *arguments, **more)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket, "getaddrinfo", known)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
