"""What the parent hands to its children."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Post:
    """Where a process of the service works: the files of view and link, the socket at which the judge listens, those
    at which the front does, and the public address. `started` reports that it works. `nice` is what a judge becomes.
    """

    view: Path
    link_path: Path
    link: socket.socket
    http: list[socket.socket]
    url: str
    started: Callable[[], None] = lambda: None
    nice: int = 0
