"""Opens the service's listening sockets."""

import errno
import os
import socket

from truerail.errors import ListenError

_BACKLOG = 2048


def listen(host: str, port: int) -> list[socket.socket]:
    """Listening sockets for every address of a host (`localhost` has two), all on one port. Raises ListenError.

    An address that this machine lacks (`::1` without IPv6) is skipped if there is another.
    """
    found: list[socket.socket] = []
    missing: OSError | None = None
    try:
        for family, address in _addresses(host, port):
            taken = found[0].getsockname()[1] if found else port
            try:
                found.append(socket.create_server((address[0], taken, *address[2:]), family=family, backlog=_BACKLOG))
            except OSError as error:
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise
                missing = error
        if not found and missing:
            raise missing
    except OSError as error:
        for one in found:
            one.close()
        raise ListenError(_words(host, port, error)) from error
    return found


def _addresses(host: str, port: int) -> list[tuple[int, tuple[str, int, *tuple[int, ...]]]]:
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return list(dict.fromkeys((info[0], info[4]) for info in infos))  # type: ignore[misc] # IPv4 and IPv6 only


def _words(host: str, port: int, error: OSError) -> str:
    where = f"http.host {host}, http.port {port}"
    if error.errno == errno.EADDRINUSE:
        return f"{where}: something listens there already"
    if isinstance(error, socket.gaierror):
        return f"{where}: no such host ({error.strerror})"
    reason = os.strerror(error.errno) if error.errno else error
    return f"{where}: cannot listen there: {reason}"
