"""One device's gRPC channel: what is called on it, and what its errors mean. Imports gRPC.

Capabilities comes first on a new channel: it shows whether the login is taken, and which encoding the device has.
Sources: gNMI's specification (openconfig/reference, rpc/gnmi), gRPC's status codes, answers of a real gRPC server.
"""

import base64
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from truerail.errors import ConnectError, TransportError
from truerail.model import GnmiAccess
from truerail.model.names import printable
from truerail.transport.framing import Limits
from truerail.transport.gnmi_login import GnmiLogin
from truerail.transport.protocol import Answer

# ----------------------------------------------------------------------------------------------------------------------
# gNMI requests as commands, and paths as text: both as the client gnmic writes them.
#
# `gnmic get --path /lldp/interfaces` is a Get, `gnmic subscribe --mode once --path /lldp/interfaces` a Subscribe of
# mode ONCE; several paths make one request. A path may have an origin before a colon (`openconfig:/lldp`), and its
# elements keys in brackets (`interface[name=Ethernet1/1]`, `*` for all). Nothing else is a request, so nothing else can
# be sent.
#
# Source: gNMI's path conventions (openconfig/reference, rpc/gnmi/gnmi-path-strings.md).

_REQUEST = re.compile(r"gnmic (get|subscribe --mode once)((?: --path \S+)+)")
_PATH = re.compile(r"(?:([a-z][a-z0-9_-]*):)?(/\S*)")
_KEYS = r"(?:\[[^=\[\]]+=(?:\\.|[^\]\\])*\])*"
_ELEMENT = re.compile(rf"/([^/\[\]]+)({_KEYS})")
_KEY = re.compile(r"\[([^=\[\]]+)=((?:\\.|[^\]\\])*)\]")


@dataclass(frozen=True, slots=True)
class Request:
    """What a command requests: by Get, or by Subscribe (`once`)."""

    once: bool
    paths: tuple["Path", ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A path: names of elements, each with its keys."""

    origin: str
    elements: tuple[tuple[str, Mapping[str, str]], ...]


def request(command: str) -> Request | None:
    """What a command requests; None where it is no request."""
    found = _REQUEST.fullmatch(command)
    paths = [_path(text) for text in found[2].split(" --path ")[1:]] if found else []
    if not found or None in paths:
        return None
    return Request(found[1] != "get", tuple(path for path in paths if path))


def _path(text: str) -> Path | None:
    found = _PATH.fullmatch(text)
    if not found or not re.fullmatch(rf"/|(?:/[^/\[\]]+{_KEYS})+", found[2]):
        return None
    elements = ((name, _KEY.findall(keys)) for name, keys in _ELEMENT.findall(found[2]))
    return Path(
        found[1] or "", tuple((name, {key: _unescaped(value) for key, value in keys}) for name, keys in elements)
    )


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value)


def as_text(elements: Iterable[Any]) -> str:
    """`interfaces/interface[name=Ethernet1/1]/state`: a device's path, without a leading slash."""
    return "/".join(element.name + "".join(_key(*pair) for pair in sorted(element.key.items())) for element in elements)


def without_keys(elements: Iterable[Any]) -> str:
    """`interfaces/interface/state`."""
    return "/".join(element.name for element in elements)


def _key(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("]", "\\]")
    return f"[{name}={escaped}]"


# ----------------------------------------------------------------------------------------------------------------------
# A device's notifications as the JSON that `gnmic get` prints: a list with `updates`, each a `Path` and its `values`.
#
# Timestamps are left out: an answer that says the same as the last one then is the same, and is not parsed again.
# Values in JSON are taken as the device wrote them, other values become JSON.
#
# Source: gNMI's messages (openconfig/gnmi, proto/gnmi/gnmi.proto).

_IN_JSON = ("json_ietf_val", "json_val")


class NotJsonError(ValueError):
    """A value that says it is JSON, and is not. Names its path."""


def updates_of(notification: Any) -> list[bytes]:
    """The updates of one notification, each as JSON. Raises `NotJsonError`."""
    before = tuple(notification.prefix.elem)
    return [_update((*before, *update.path.elem), update.val) for update in notification.update]


def as_answer(updates: Iterable[bytes]) -> str:
    """All updates of a request as one answer."""
    return (b'[{"updates": [\n' + b",\n".join(updates) + b"\n]}]\n").decode(errors="replace")


def _update(elements: tuple[Any, ...], value: Any) -> bytes:
    path = as_text(elements)
    return orjson.dumps({"Path": path, "values": {without_keys(elements): orjson.Fragment(_json(path, value))}})


def _json(path: str, value: Any) -> bytes:
    kind = value.WhichOneof("value")
    if kind not in _IN_JSON:
        return orjson.dumps(_plain(value, kind))
    text = bytes(getattr(value, kind))
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise NotJsonError(f"its value of {path} is not JSON: {error.msg} at byte {error.pos}") from None
    return text


def _plain(value: Any, kind: str | None) -> Any:
    """A scalar, or a list of scalars; None for a value that is neither."""
    if kind == "leaflist_val":
        return [_plain(one, one.WhichOneof("value")) for one in value.leaflist_val.element]
    if kind == "decimal_val":
        return value.decimal_val.digits / 10**value.decimal_val.precision
    if kind == "bytes_val":
        return base64.b64encode(value.bytes_val).decode()
    return getattr(value, kind) if kind and kind not in ("any_val", "proto_bytes") else None


# ----------------------------------------------------------------------------------------------------------------------
# One device's gRPC channel: what is called on it, and what its errors mean. Imports gRPC.

os.environ.setdefault("GRPC_VERBOSITY", "NONE")
"""gRPC writes each failed handshake to stderr. The error reports it."""

import grpc  # noqa: E402 - reads the variable when it is imported
import grpc.aio  # noqa: E402 - as above
from pygnmi.spec.v080 import gnmi_pb2  # noqa: E402 - as above

_SERVICE = "/gnmi.gNMI/"
_ENCODINGS = (gnmi_pb2.JSON_IETF, gnmi_pb2.JSON, gnmi_pb2.PROTO)
"""Best first."""
_LONGEST = 160
_NOISE = re.compile(
    r"failed to connect to all addresses; last error: |UNKNOWN: \S+:\d+: |Failed to connect to remote host: |"
    r"(?:Tls|Ssl) handshake failed \([A-Z_]+\): |SSL_ERROR_SSL: error:\w+:SSL routines:OPENSSL_internal:|: OK$"
)
"""What gRPC puts before the reason."""
_Code = grpc.StatusCode
_REFUSED = (
    _Code.INVALID_ARGUMENT,
    _Code.NOT_FOUND,
    _Code.UNIMPLEMENTED,
    _Code.PERMISSION_DENIED,
    _Code.FAILED_PRECONDITION,
    _Code.OUT_OF_RANGE,
    _Code.UNKNOWN,
)
"""The device rejects this request: another one may work. UNKNOWN is what a plain error of a server becomes."""


class GnmiSession:
    """A channel to one device."""

    def __init__(self, address: str, access: GnmiAccess, login: GnmiLogin, limits: Limits) -> None:
        host = f"[{address}]" if ":" in address else address
        self._address = address
        self._where = f"{address} port {access.port}"
        self._access = access
        self._login = login
        self._limits = limits
        self._encoding: int | None = None
        self.lost = False
        """Whether an answer did not come, or the connection broke: another session must follow."""
        options: list[tuple[str, Any]] = [
            ("grpc.max_receive_message_length", limits.answer_bytes),
            ("grpc.enable_http_proxy", 0),
        ]
        if access.server_name:
            options.append(("grpc.ssl_target_name_override", access.server_name))
        credentials = grpc.ssl_channel_credentials(login.ca, login.key, login.certificate)
        self._channel = grpc.aio.secure_channel(f"{host}:{access.port}", credentials, options)
        self._capabilities = self._method("Capabilities", gnmi_pb2.CapabilityRequest, gnmi_pb2.CapabilityResponse)
        self._get = self._method("Get", gnmi_pb2.GetRequest, gnmi_pb2.GetResponse)
        self._subscribe = self._channel.stream_stream(
            f"{_SERVICE}Subscribe",
            request_serializer=gnmi_pb2.SubscribeRequest.SerializeToString,
            response_deserializer=gnmi_pb2.SubscribeResponse.FromString,
        )

    async def close(self) -> None:
        """Ends the channel and what is called on it."""
        await self._channel.close()

    async def answers(self, commands: Sequence[str], seconds: float) -> list[Answer]:
        """One answer for each command. Raises `TransportError` where there is none at all.

        After an answer that did not come in time, or a lost connection, nothing more is sent in this round.
        """
        try:
            await self._learn_encoding(seconds)
        except grpc.aio.AioRpcError as error:
            raise self._unreachable(error, seconds) from None
        answers: list[Answer] = []
        over, size = "", 0
        for command in commands:
            if over:
                answers.append(Answer(command, error=f"not asked: {over}"))
                continue
            answer, over = await self._answer(command, seconds)
            self.lost = self.lost or bool(over)
            size += len(answer.text)
            if not over and size > self._limits.device_bytes:
                over = f"more than {self._limits.device_bytes} bytes of answers in one round"
            answers.append(answer)
        return answers

    async def _learn_encoding(self, seconds: float) -> None:
        """The best encoding that the device has; JSON_IETF where it does not implement the question."""
        if self._encoding is not None:
            return
        try:
            reported = await self._capabilities(gnmi_pb2.CapabilityRequest(), **self._call(seconds))
        except grpc.aio.AioRpcError as error:
            if error.code() != _Code.UNIMPLEMENTED:
                raise
            self._encoding = _ENCODINGS[0]
        else:
            supported = [one for one in _ENCODINGS if one in reported.supported_encodings]
            self._encoding = supported[0] if supported else _ENCODINGS[0]

    async def _answer(self, command: str, seconds: float) -> tuple[Answer, str]:
        """The answer, and why nothing more can be asked after it."""
        began = time.monotonic()
        wanted = request(command)
        if wanted is None:
            return Answer(command, error="not a request, and gNMI can ask nothing else"), ""
        text, error, refused, over = "", "", False, ""
        try:
            text = as_answer(await (self._once if wanted.once else self._got)(wanted, seconds))
        except NotJsonError as failed:
            error = f"{self._where}: {failed}"
        except grpc.aio.AioRpcError as failed:
            error, refused = self._why(failed, seconds), failed.code() in _REFUSED
            over = error if failed.code() in (_Code.DEADLINE_EXCEEDED, _Code.UNAVAILABLE) else ""
        if len(text) > self._limits.answer_bytes:
            text, error = "", self._too_long()
        return Answer(command, text, error, time.monotonic() - began, refused), over

    async def _got(self, wanted: Request, seconds: float) -> list[bytes]:
        message = gnmi_pb2.GetRequest(prefix=self._prefix, path=map(_message, wanted.paths), encoding=self._encoding)
        reply = await self._get(message, **self._call(seconds))
        return [update for notification in reply.notification for update in updates_of(notification)]

    async def _once(self, wanted: Request, seconds: float) -> list[bytes]:
        """The updates of a subscription that ends by itself, at the latest with the first one beyond the limit."""
        subscriptions = [gnmi_pb2.Subscription(path=_message(path)) for path in wanted.paths]
        listed = gnmi_pb2.SubscriptionList(
            prefix=self._prefix,
            subscription=subscriptions,
            mode=gnmi_pb2.SubscriptionList.ONCE,
            encoding=self._encoding,
        )
        call = self._subscribe(iter([gnmi_pb2.SubscribeRequest(subscribe=listed)]), **self._call(seconds))
        updates: list[bytes] = []
        size = 0
        try:
            async for reply in call:
                if reply.sync_response:
                    break
                updates += (more := updates_of(reply.update))
                size += sum(map(len, more))
                if size > self._limits.answer_bytes:
                    break
        finally:
            call.cancel()
        return updates

    @property
    def _prefix(self) -> Any:
        return gnmi_pb2.Path(target=self._access.target) if self._access.target else None

    def _call(self, seconds: float) -> dict[str, Any]:
        return {"timeout": seconds, "metadata": self._login.metadata}

    def _method(self, name: str, asked: Any, answered: Any) -> Any:
        return self._channel.unary_unary(
            _SERVICE + name, request_serializer=asked.SerializeToString, response_deserializer=answered.FromString
        )

    def _unreachable(self, error: Any, seconds: float) -> TransportError:
        """Why a device cannot be queried. Only what another try may help is a `ConnectError`."""
        details, said = self._details(error), str(error.details())
        if error.code() == _Code.UNAVAILABLE:
            if "CERTIFICATE_VERIFY_FAILED" in said:
                return TransportError(
                    f"{self._where}: its certificate is not accepted with {self._access.ca}: {details}"
                )
            if "Hostname Verification" in said:
                named = self._access.server_name or self._address
                return TransportError(f"{self._where}: its certificate does not name {named}")
            if "SSL_ERROR_SSL" in said:
                return TransportError(f"{self._where}: no TLS session: {details}")
            return ConnectError(f"{self._where}: no connection: {details}")
        if error.code() in (_Code.UNAUTHENTICATED, _Code.PERMISSION_DENIED):
            who = f"user {self._login.user!r}" if self._login.user else "no user"
            return TransportError(f"{self._where}: {who} is refused: {details}")
        return TransportError(self._why(error, seconds))

    def _why(self, error: Any, seconds: float) -> str:
        if error.code() == _Code.DEADLINE_EXCEEDED:
            return f"{self._where}: no answer within {seconds:g} s"
        if error.code() == _Code.RESOURCE_EXHAUSTED and "larger than max" in self._details(error):
            return self._too_long()
        return f"{self._where}: {error.code().name}: {self._details(error)}"

    def _too_long(self) -> str:
        return f"{self._where}: the answer is longer than {self._limits.answer_bytes} bytes"

    def _details(self, error: Any) -> str:
        """The device's words; not shown where they repeat the password."""
        details = _NOISE.sub("", str(error.details() or "")) or "no reason given"
        repeats = self._login.password and self._login.password in details
        return "(not shown)" if repeats else printable(details, _LONGEST)


def _message(path: Path) -> Any:
    elements = [gnmi_pb2.PathElem(name=name, key=keys) for name, keys in path.elements]
    return gnmi_pb2.Path(origin=path.origin, elem=elements)
