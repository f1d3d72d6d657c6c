"""What holds for every test: no network but loopback, and property tests that do not depend on the machine's speed,
and draw the same examples in each run of the CI.
"""

import os
import socket
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("truerail", deadline=None, print_blob=True, derandomize=bool(os.environ.get("CI")))
settings.load_profile("truerail")

_LOOPBACK = ("127.", "::1", "localhost")


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any connection that would leave the machine fails the test that makes it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError(f"a test connects to {address[0]}: only loopback is allowed")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
