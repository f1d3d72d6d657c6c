"""A switch that speaks gNMI, for tests: a real gRPC server on loopback with TLS, a login and OpenConfig's tree.

Its messages and its service are those of the published gnmi.proto, which pygnmi ships compiled. No stand-alone gNMI
target is packaged by Debian or on PyPI. Certificates are made here; `Ways` makes it refuse, hang, or answer too much.
"""

import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

USER, PASSWORD = "truerail", "gnmi-password-of-tests"
NAME = "leaf-0.example"
Elements = tuple[Any, ...]


@dataclass
class Ways:
    """How the switch behaves. Paths begin without a slash."""

    encodings: tuple[int, ...] = (gnmi_pb2.JSON_IETF,)
    get: grpc.StatusCode | None = None
    """What every Get is refused with."""
    capabilities: grpc.StatusCode | None = None
    origin: str = ""
    """The origin without which no path is known."""
    hangs: frozenset[str] = frozenset()
    """What is never answered: names of RPCs, first elements of paths."""
    says: str = "no such path"
    padding: int = 0
    """Bytes of a value that is added to each answer."""
    broken: bool = False
    """Whether values are not the JSON that they say they are."""
    asked: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Certificates:
    """PEM files: a CA, another CA, and a client certificate of the first."""

    ca: Path
    other_ca: Path
    certificate: Path
    key: Path
    server: tuple[bytes, bytes]
    """Key and certificate of the server, for 127.0.0.1 and `NAME`."""


@dataclass(frozen=True)
class GnmiSwitch:
    """A running switch: its port, what it knows, and how it behaves now."""

    port: int
    tree: dict[str, Any]
    ways: Ways


class _Servicer(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]  # pygnmi has no types
    def __init__(self, tree: Mapping[str, Any], ways: Ways) -> None:
        self._tree = tree
        self._ways = ways

    def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802 - gNMI's name
        self._admit("Capabilities", context)
        if self._ways.capabilities:
            context.abort(self._ways.capabilities, self._ways.says)
        return gnmi_pb2.CapabilityResponse(supported_encodings=self._ways.encodings, gNMI_version="0.8.0")

    def Get(self, request: Any, context: Any) -> Any:  # noqa: N802 - gNMI's name
        self._admit("Get", context)
        if self._ways.get:
            context.abort(self._ways.get, self._ways.says)
        found = [one for path in request.path for one in self._found(request.prefix, path, context)]
        updates = [gnmi_pb2.Update(path=gnmi_pb2.Path(elem=at), val=self._in_json(value)) for at, value in found]
        notification = gnmi_pb2.Notification(timestamp=1, prefix=request.prefix, update=updates)
        return gnmi_pb2.GetResponse(notification=[notification])

    def Subscribe(self, requests: Any, context: Any) -> Iterator[Any]:  # noqa: N802 - gNMI's name
        self._admit("Subscribe", context)
        listed = next(requests).subscribe
        assert listed.mode == gnmi_pb2.SubscriptionList.ONCE
        for subscription in listed.subscription:
            for at, value in self._found(listed.prefix, subscription.path, context):
                for where, leaf in _leaves(at, value):
                    update = gnmi_pb2.Update(path=gnmi_pb2.Path(elem=where), val=_scalar(leaf))
                    notification = gnmi_pb2.Notification(timestamp=2, prefix=listed.prefix, update=[update])
                    yield gnmi_pb2.SubscribeResponse(update=notification)
        yield gnmi_pb2.SubscribeResponse(sync_response=True)

    def _admit(self, rpc: str, context: Any) -> None:
        self._ways.asked.append(rpc)
        self._hang(rpc)
        given = dict(context.invocation_metadata())
        if (given.get("username"), given.get("password")) != (USER, PASSWORD):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, f"no such login: {given.get('password')}")

    def _found(self, prefix: Any, path: Any, context: Any) -> list[tuple[Elements, Any]]:
        names = [element.name for element in path.elem]
        self._ways.asked.append("/".join([f"{path.origin}:" if path.origin else "", prefix.target, *names]))
        self._hang(names[0])
        known = path.origin == self._ways.origin and self._matching(path)
        if not known:
            context.abort(grpc.StatusCode.NOT_FOUND, self._ways.says)
        padding = [((gnmi_pb2.PathElem(name="padding"),), "x" * self._ways.padding)] if self._ways.padding else []
        return [*known, *padding]

    def _hang(self, name: str) -> None:
        if name in self._ways.hangs:
            self._ways.released.wait()

    def _matching(self, path: Any) -> list[tuple[Elements, Any]]:
        """The values at a path, each with its own path: keys may be `*`."""
        found: list[tuple[Elements, Any]] = [((), self._tree)]
        for element in path.elem:
            found = [
                ((*at, gnmi_pb2.PathElem(name=element.name, key=keys)), value)
                for at, node in found
                if isinstance(node, dict) and element.name in node
                for keys, value in _chosen(node[element.name], dict(element.key))
            ]
        return found

    def _in_json(self, value: Any) -> Any:
        text = b"{not json" if self._ways.broken else json.dumps(value).encode()
        if gnmi_pb2.JSON_IETF in self._ways.encodings:
            return gnmi_pb2.TypedValue(json_ietf_val=text)
        return gnmi_pb2.TypedValue(json_val=text)


def _chosen(value: Any, wanted: Mapping[str, str]) -> Iterator[tuple[dict[str, str], Any]]:
    if not wanted:
        yield {}, value
        return
    for entry in value:
        if all(pattern in ("*", str(entry[key])) for key, pattern in wanted.items()):
            yield {key: str(entry[key]) for key in wanted}, entry


def _leaves(at: Elements, value: Any) -> Iterator[tuple[Elements, Any]]:
    """Every leaf below a value: what a subscription sends. The first key of an entry is its list's."""
    if isinstance(value, dict):
        for name, inside in value.items():
            yield from _leaves((*at, gnmi_pb2.PathElem(name=name)), inside)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for entry in value:
            key = next(iter(entry))
            keyed = gnmi_pb2.PathElem(name=at[-1].name, key={key: str(entry[key])})
            yield from _leaves((*at[:-1], keyed), entry)
    else:
        yield at, value


def _scalar(value: Any) -> Any:
    for kind, name in ((bool, "bool_val"), (int, "int_val"), (float, "double_val"), (str, "string_val")):
        if isinstance(value, kind):
            return gnmi_pb2.TypedValue(**{name: value})
    return gnmi_pb2.TypedValue(leaflist_val=gnmi_pb2.ScalarArray(element=map(_scalar, value)))


@contextmanager
def gnmi_switch(
    certificates: Certificates, tree: dict[str, Any], *, client_certificates: bool = False
) -> Iterator[GnmiSwitch]:
    """A switch with this tree. It takes logins of `USER` alone."""
    ways = Ways()
    server = grpc.server(ThreadPoolExecutor(16))
    gnmi_pb2_grpc.add_gNMIServicer_to_server(_Servicer(tree, ways), server)
    credentials = grpc.ssl_server_credentials(
        [certificates.server],
        certificates.ca.read_bytes() if client_certificates else None,
        require_client_auth=client_certificates,
    )
    port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    try:
        yield GnmiSwitch(port, tree, ways)
    finally:
        ways.released.set()
        server.stop(None).wait()


def certificates(folder: Path) -> Certificates:
    """Makes a CA, another one, a server's and a client's certificate."""
    ca, ca_key = _certificate("the CA of tests")
    other, _ = _certificate("another CA")
    server, server_key = _certificate(NAME, ca, ca_key)
    client, client_key = _certificate("truerail", ca, ca_key)
    files = {"ca.pem": _pem(ca), "other.pem": _pem(other), "client.pem": _pem(client), "client.key": _key(client_key)}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    made = [folder / name for name in files]
    return Certificates(*made, server=(_key(server_key), _pem(server)))


def _certificate(
    name: str, issuer: x509.Certificate | None = None, issuer_key: ec.EllipticCurvePrivateKey | None = None
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if issuer:
        names = [x509.DNSName(NAME), x509.IPAddress(ip_address("127.0.0.1"))]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(issuer_key or key, hashes.SHA256()), key


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
