"""Facts of `truerail probe`: what one host sent, heard and was answered, as the host itself counted it.

Rows like those of `facts.py`, which names them among all facts. A *flow* is one source address and NIC that sends to
one destination address; its number is unique in a run, and joins what the sender reports with what the listener does.
"""

from typing import Literal, NamedTuple, TypeAlias, get_args

from truerail.model.fact_kinds import ANY_NUMBER, OCTET, fact

_COUNT = (0, 2**40)
_PORT = (0, 2**16 - 1)
_SIZE = (0, 2**16)


@fact(
    "probes of reach", flow=_COUNT, size=_SIZE, tos=OCTET, source_port=_PORT, sent=_COUNT, heard=_COUNT, tos_heard=OCTET
)
class ProbeReach(NamedTuple):
    """Probes of one flow as one of its two ends counted them: `sent` by the sender, `heard` by the listener.

    The sender has a row for each source port and size, and one row with `sent` 0 for a flow that it did not try, or
    that its kernel refused to send (`ProbeTrouble` has the error). The listener has at least one row for each flow that
    it listened for: what is not among its rows was not heard, and a flow of which nothing was heard has one row with
    `heard` 0. A flow without any row of its listener has no witness: whether it arrived is unknown.
    """

    port: str
    """The reporting host's own end: the NIC that the flow shall leave by (sender) or arrive on (listener)."""
    peer: str
    """The host at the other end, as the plan names it."""
    peer_port: str
    """Its NIC, as that host names it."""
    run: str
    """The run that the row belongs to: rows of two runs are never joined."""
    flow: int
    mode: Literal["routed", "wired"]
    """`routed`: sent from the source address, by whichever NIC the host's routes take; `wired`: by the NIC itself."""
    tos: int
    """As sent: the octet of the IP header, DSCP * 4. Its two lowest bits (ECN) are 0."""
    size: int | None = None
    """Bytes of the IP packet, sent with DF. None in the listener's row of a flow that was not heard."""
    source_port: int | None = None
    """The UDP source port. None where `size` is."""
    sent: int | None = None
    """Packets that the sender's kernel took; 0 if the flow was not tried. None in the listener's rows."""
    heard: int | None = None
    """Packets that the listener read. None in the sender's rows."""
    arrived_on: str | None = None
    """The interface that the packets came in by (IP_PKTINFO), in the listener's rows."""
    tos_heard: int | None = None
    """As heard, with the ECN bits that a switch may have set: compare `tos_heard & 0xFC`."""
    left_by: str | None = None
    """The interface of `ip route get DESTINATION from SOURCE`, in the sender's rows; None if that has no answer."""
    address: str | None = None
    """The flow's source address."""
    peer_address: str | None = None
    """The flow's destination address."""
    pinglist: str | None = None
    """`A`, `B`, `C`, `D` or `E`: the list that the flow belongs to; `P`: the path sweep."""


@fact(
    "hops of probes",
    flow=_COUNT,
    source_port=_PORT,
    ttl=OCTET,
    size=_SIZE,
    sent=_COUNT,
    answered=_COUNT,
    mtu=ANY_NUMBER,
)
class ProbeHop(NamedTuple):
    """ICMP answers to probes of one flow, source port, TTL and size, in the sender's words.

    One row for each address and kind of answer; one row without an address for probes with a short TTL that had no
    answer. `sent` is the same in all rows of one (flow, source port, TTL, size). ICMP answers are limited
    everywhere: they name a path, and are no evidence of loss.
    """

    port: str
    peer: str
    peer_port: str
    run: str
    flow: int
    source_port: int
    ttl: int
    """As sent; 64 for a probe that shall arrive, and was answered with an error."""
    size: int
    sent: int
    address: str | None = None
    """Who answered: usually the ingress interface of the switch, or its loopback. None if there was no answer."""
    answered: int = 0
    kind: (
        Literal["time exceeded", "too big", "port unreachable", "net unreachable", "host unreachable", "prohibited"]
        | None
    ) = None
    """The ICMP or ICMPv6 message, any other unreachable being `net unreachable`. None if there was no answer."""
    mtu: int | None = None
    """The MTU that a `too big` names; 0 from routers that name none."""


@fact("troubles of probes", amount=_COUNT, flow=_COUNT)
class ProbeTrouble(NamedTuple):
    """What kept the probing host itself from being a good witness: it is no fault of the fabric."""

    port: str
    """The NIC that it concerns; empty for the whole host."""
    what: str
    """A word of `PROBE_TROUBLES`, or the name of a kernel's error, such as `ENETUNREACH`, for sends that it refused."""
    amount: int
    """How often, but for `started late`."""
    run: str
    flow: int | None = None
    """The flow that it concerns, None for all flows of the port or the host."""
    detail: str | None = None


@fact("round trips of probes", flow=_COUNT, rtt_us=(0, 1e8))
class ProbeEcho(NamedTuple):
    """What three echoes from one NIC to another took, answered by the peer's kernel before any probe was sent."""

    port: str
    peer: str
    peer_port: str
    run: str
    flow: int
    """One of the flows that the host was to send."""
    rtt_us: float | None = None
    """The shortest round trip of three. None if no echo was answered, or `ping` did not run: `detail` says which."""
    detail: str | None = None


ProbeFact: TypeAlias = ProbeReach | ProbeHop | ProbeTrouble | ProbeEcho
PROBE_FACTS = get_args(ProbeFact)


@fact("RDMA tests", test=_COUNT, gbps=(0, 1e5))
class RdmaTest(NamedTuple):
    """What one end of a test between two NICs reports of one program."""

    port: str
    """The reporting host's own NIC."""
    peer: str
    """The host at the other end, as the plan names it."""
    peer_port: str
    run: str
    test: int
    """Both ends of a test have the same number, which is unique in a run."""
    role: Literal["client", "server"]
    """The client sends and reports the bandwidth; the server waits for it."""
    program: Literal["ib_write_bw", "rping"]
    outcome: Literal[
        "measured",
        "passed",
        "lost",
        "failed",
        "not ended",
        "not installed",
        "no RDMA device",
        "busy",
        "load unknown",
        "not in time",
        "left out",
    ]
    """`measured`: the client of `ib_write_bw` has a bandwidth; `passed`: the program ended well;
    `lost`: packets were sent again until the NIC gave up. All others say why there is no result.
    """
    gbps: float | None = None
    """Average payload sent, in 10^9 bits a second."""
    detail: str | None = None


FULL_TTL = 64
"""The TTL of probes that shall arrive. Others end at a hop."""
LEFT_OUT = "left out"
"""The host took no part, `detail` says why: it is busy, its login failed, its clock is off, its limits refused."""
PEER_LEFT_OUT = "peer left out"
"""The flow was not tried, because the host at its other end takes no part."""
OUT_OF_TIME = "out of time"
"""Probes that were due after the end of the run, and not sent."""
BUFFER_FULL = "buffer full"
"""Packets that the listener's own full buffer dropped (SO_RXQ_OVFL): the host is no witness of loss."""
STARTED_LATE = "started late"
"""The host began after the common start: `amount` in milliseconds. What was sent to it before is no loss."""
UNKNOWN_FLOW = "unknown flow"
"""Packets heard of this run whose flow the listener did not expect."""
PROBE_TROUBLES = (LEFT_OUT, PEER_LEFT_OUT, OUT_OF_TIME, BUFFER_FULL, STARTED_LATE, UNKNOWN_FLOW)

NOT_SENT = ("EADDRINUSE", "EADDRNOTAVAIL", "EAGAIN", "EINTR", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM")
"""Errors of the host itself: another run holds the port, the address is in a VRF or has gone since the poll, or files
or memory are lacking. They show nothing of a way.
"""

PROBE_COLLECTOR = "probe_results"
PROBE_COLLECTORS = frozenset((PROBE_COLLECTOR, "rdma_tests"))
"""Their readings are no answers to a poll: a host that was left out, because it is off, has one as well."""
