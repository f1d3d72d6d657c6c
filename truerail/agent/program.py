"""The command line of the agent."""

from __future__ import annotations

import argparse
import os
import resource
import signal
import socket
import sys
from contextlib import suppress

from .allowed_commands import declared
from .bus_connection import Address, BusError
from .host_agent import HostAgent, say


def main() -> int:
    """Runs until SIGTERM or SIGINT. Returns the exit status: 2 where it cannot begin."""
    list_of = declared()
    options = _options(list_of.version)
    if options.list:
        for question in list_of.questions:
            for command in question.commands:
                sys.stdout.write(f"{question.name}\t{question.every_seconds:g}\t{command}\n")
        return 0
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda signum, frame: stopped.append(signum))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        address = Address(options.bus, options.ca, options.cert, options.key)
        if address.encrypted:
            address.context()
    except BusError as error:
        say(f"truerail-agent: {error}")
        return 2
    wakes, signals = os.pipe()
    os.set_blocking(signals, False)
    signal.set_wakeup_fd(signals)
    HostAgent(list_of, address, options.fabric, options.zone, options.name, say).run(lambda: bool(stopped), wakes)
    return 0


def _options(version: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="truerail-agent",
        description="Sends what truerail would ask of this host over its bus. It takes no command.",
    )
    parser.add_argument("--version", action="version", version="truerail-agent " + version)
    parser.add_argument("--list", action="store_true", help="print all commands that it runs, and exit")
    parser.add_argument(
        "--bus", default="", metavar="URL", help="tls://HOST:PORT, a NATS server; of a cluster all, with commas"
    )
    parser.add_argument("--ca", default="", metavar="FILE", help="certificate of its authority, PEM")
    parser.add_argument("--cert", default="", metavar="FILE", help="certificate of this host, PEM: the login")
    parser.add_argument("--key", default="", metavar="FILE", help="its key, PEM")
    parser.add_argument("--fabric", default="fabric", metavar="NAME", help="the fabric, as the settings name it")
    parser.add_argument("--zone", default="default", metavar="NAME", help="the zone of this host in the inventory")
    parser.add_argument(
        "--name", default=socket.gethostname(), metavar="NAME", help="its name there; default: %(default)s"
    )
    options = parser.parse_args()
    if not options.list and not options.bus:
        parser.error("--bus is needed")
    return options
