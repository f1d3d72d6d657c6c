"""Sends lines of syslog: one datagram (RFC 5426), or a frame with its length over TCP (RFC 6587 section 3.4.1) or TLS
(RFC 5425).

Syslog confirms nothing. Over TCP a message counts as delivered when the server has taken it and closed in order; a
datagram as soon as it is sent.
"""

import socket
import ssl
from contextlib import suppress

from truerail.errors import DeliveryError
from truerail.service.notify.http_failure import in_short
from truerail.service.notify.notification import Notification
from truerail.service.notify.syslog_lines import syslog_line
from truerail.service.notify_settings import Syslog

TIMEOUT_SECONDS = 10.0


class SyslogChannel:
    """One syslog server."""

    def __init__(self, settings: Syslog) -> None:
        self._settings = settings

    def send(self, message: Notification) -> None:
        """Sends one message. Raises DeliveryError."""
        transport, host, port = self._settings.server
        line = syslog_line(message, self._settings)
        try:
            if transport == "udp":
                _datagram(host, port, line)
            else:
                self._framed(host, port, line, encrypted=transport == "tls")
        except TimeoutError:
            raise DeliveryError(f"{host}:{port} does not answer in time") from None
        except OSError as error:
            raise DeliveryError(f"{host}:{port}: {in_short(error)}") from error

    def _framed(self, host: str, port: int, line: bytes, *, encrypted: bool) -> None:
        with socket.create_connection((host, port), TIMEOUT_SECONDS) as plain:
            if not encrypted:
                _frame(plain, line)
                return
            context = ssl.create_default_context(cafile=self._settings.ca)
            context.minimum_version = ssl.TLSVersion.TLSv1_2
            with context.wrap_socket(plain, server_hostname=host) as secure:
                _frame(secure, line)


def _frame(connection: socket.socket, line: bytes) -> None:
    """Sends one frame, and ends the connection in order. A server that took it and does not close in time has it: to
    send it again would make a message of each attempt.
    """
    connection.sendall(b"%d %s" % (len(line), line))
    with suppress(TimeoutError, ssl.SSLEOFError):
        if isinstance(connection, ssl.SSLSocket):
            connection = connection.unwrap()
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass


def _datagram(host: str, port: int, line: bytes) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as sending:
        sending.settimeout(TIMEOUT_SECONDS)
        sending.sendto(line, address)
