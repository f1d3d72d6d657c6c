"""A network namespace of a test: it has nothing but a loopback, whose addresses can be cut off from each other."""

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of sched.h."""

_CUT = """
table inet split {{
    chain cut {{
        type filter hook input priority 0
        ip saddr {address} drop
        ip daddr {address} drop
    }}
}}
"""


@contextmanager
def own_network() -> Iterator[None]:
    """This thread is in it until the end, and so is every process that it starts. Needs root."""
    former = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _call("unshare", _NEW_NETWORK)
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            yield
        finally:
            _call("setns", former, _NEW_NETWORK)
    finally:
        os.close(former)


@contextmanager
def cut_off(address: str) -> Iterator[None]:
    """No packet to or from an address arrives, and none is refused: neither side hears anything of it."""
    _nft(_CUT.format(address=address))
    try:
        yield
    finally:
        _nft("delete table inet split")


def _nft(rules: str) -> None:
    subprocess.run(["nft", "-f", "-"], input=rules, text=True, check=True)


def _call(name: str, *arguments: int) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        raise OSError(ctypes.get_errno(), name)
