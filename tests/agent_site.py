"""A bus with TLS for agents, as `bus init` sets it up, and hosts whose commands print what a simulated fabric says."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.patience import soon
from tests.poller_fabric import zoned_work
from tests.ports import free_address
from tests.real import require
from tests.sshd import install
from truerail.link.nats_link import BusAddress
from truerail.model import Target
from truerail.model.names import answer_file
from truerail.poller.agent_package import agent_file

BEAT_SECONDS = 0.4
_OTHER_USES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
    *("encipher_only", "decipher_only"),
)
_TOOL = """#!/bin/sh
# Prints the file of this command, as a capture names it; as lldpcli, reports each line of the file of changes.
[ "$*" != "-f json0 watch" ] || exec tail -q -n +1 -f -s 0.02 "$HOST/changes"
name=$(printf '%s' "${0##*/} $*" | tr -sc 'A-Za-z0-9.-' _)
[ ! -e "$HOST/hangs" ] || sleep 60
cat "$HOST/$name" 2>/dev/null || { echo "${0##*/}: no such thing" >&2; exit 127; }
"""


class Authority:
    """Signs certificates for loopback and for hosts."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder, self._key = folder, ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self._signed(self._name, self._key, None).public_bytes(serialization.Encoding.PEM))

    def certificate(self, name: str) -> tuple[Path, Path]:
        """Certificate and key for a DNS name; for a server on loopback too."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._signed(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key, name)
        files = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
        files[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return files

    def _signed(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, dns: str | None) -> x509.Certificate:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=1))
            .not_valid_after(now + timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=dns is None, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if dns:
            names = [x509.DNSName(dns), x509.IPAddress(ip_address("127.0.0.1"))]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        else:  # Python 3.13 asks an authority for what it may sign
            signs = {f"{use}_sign": True for use in ("key_cert", "crl")} | dict.fromkeys(_OTHER_USES, False)
            builder = builder.add_extension(x509.KeyUsage(**signs), critical=True)
        return builder.sign(self._key, hashes.SHA256())


class AgentSite:
    """A running bus. `folder / "out"` has what `bus init` wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.authority = folder, Authority(folder)
        listen = free_address()
        self.url = f"tls://{listen}"
        self.roles = self.authority.certificate("roles")
        server = self.authority.certificate("bus")
        self.inventory = folder / "inventory.yaml"
        self.inventory.write_text(inventory(zoned_work().targets))
        self.agent = folder / "truerail-agent.pyz"
        self.agent.write_bytes(agent_file(BEAT_SECONDS))
        self.words = ["--zones", "pods,core", "--out", str(folder / "out"), "--listen", listen]
        self.words += ["--store", str(folder / "store"), "--agents", str(self.inventory)]
        self.words += ["--tls-cert", str(server[0]), "--tls-key", str(server[1])]
        self.words += ["--clients-ca", str(self.authority.file)]
        self.at = ["--bus", self.url, "--ca", str(self.authority.file)]
        self.at += ["--cert", str(self.roles[0]), "--key", str(self.roles[1])]

    def address(self, role: str) -> BusAddress:
        """The login of a role by its key."""
        return BusAddress(self.url, self.folder / "out" / f"{role}.nk", self.authority.file, *self.roles)

    def init(self, *words: str) -> None:
        """`truerail bus init`."""
        command = [sys.executable, "-m", "truerail", "bus", "init", *self.words, *words]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


class Host:
    """One host with an agent: a folder with the answers of its commands."""

    def __init__(self, site: AgentSite, name: str, answers: dict[str, str]) -> None:
        self.site, self.name = site, name
        self.folder = site.folder / f"host-{name}"
        tools = self.folder / "bin"
        tools.mkdir(parents=True, exist_ok=True)
        (self.folder / "changes").touch()
        for tool in ("lldpcli", "lldpctl", "ip", "rdma", "nvidia-smi", "ibdev2netdev"):
            install(tools / tool, _TOOL)
        for command, text in answers.items():
            (self.folder / answer_file(command)).write_text(text)

    @contextmanager
    def agent(self, name: str = "", authority: Authority | None = None) -> Iterator["subprocess.Popen[str]"]:
        """The running agent; with another name than that of its certificate, if one is given."""
        certificate, key = (authority or self.site.authority).certificate(self.name)
        words = ["--bus", self.site.url, "--ca", self.site.authority.file, "--cert", certificate, "--key", key]
        words += ["--zone", "pods", "--name", name or self.name]
        paths = os.pathsep.join((str(self.folder / "bin"), "/usr/bin", "/bin"))
        environment = {"PATH": paths, "HOST": str(self.folder)}
        command = [sys.executable, "-I", self.site.agent, *words]
        with (self.folder / "log").open("w") as log:
            process = subprocess.Popen(command, env=environment, stderr=log, stdin=subprocess.DEVNULL, text=True)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @property
    def log(self) -> str:
        """What the agent has reported."""
        return (self.folder / "log").read_text()

    def change(self, command: str, text: str) -> None:
        """Another answer from now on, which lldpd reports."""
        (self.folder / answer_file(command)).write_text(text)
        with (self.folder / "changes").open("a") as changes:
            changes.write("{}\n")


def inventory(targets: tuple[Target, ...]) -> str:
    """In native YAML."""
    rows = [
        f"  - {{name: {one.name}, role: {one.role}, platform: {one.platform}, zone: {one.zone}, address: {address}}}"
        for one in targets
        if (address := one.address)
    ]
    return "\n".join(("devices:", *rows, ""))


@contextmanager
def agent_site(folder: Path) -> Iterator[AgentSite]:
    """A bus that runs, with its streams."""
    require("nats-server")
    site = AgentSite(folder)
    site.init()
    log = folder / "nats.log"
    process = subprocess.Popen(["nats-server", "-c", folder / "out" / "nats-server.conf", "-l", log])
    try:
        soon(lambda: log.exists() and "Server is ready" in log.read_text(), "nats-server listens")
        site.init(*site.at)
        yield site
    finally:
        process.kill()
        process.wait()
