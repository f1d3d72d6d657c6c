#!/usr/bin/python3 -I
"""truerail-probe: sends and hears UDP probes on one host, counts, and prints one JSON object.

Needs Python 3.6 or newer, no root, no library, and writes nothing to disk. Its argument, `/etc/truerail/probe.json`,
belongs to root and limits what this host sends, in one run at a time. Standard input is one line of JSON, the tasks;
its end stops the probes, and what was counted is printed. Standard error has this host's clock, then the progress.
A flow has rows of packets: source port, TTL, size, count, seconds until the first one, seconds from each to the next.

Traps that this file avoids:

- An ICMP error does not show the TTL that its probe had, and a router may quote 8 bytes of UDP alone, without payload.
  So a socket has one TTL in flight at a time, and waits before the next.
- A pending ICMP error makes the next `sendto` fail once, and nothing is sent: it is read, and the packet sent again.
- With IP_PMTUDISC_DO the kernel remembers a smaller path MTU and refuses the next probe; with _PROBE it does not.
- A connected UDP socket carries a random hash that some kernels use for ECMP: `sendto` alone.
- This process' own full receive buffer looks like loss in the fabric: SO_RXQ_OVFL counts it.
- Two flows of one source address must not share source ports: the second bind fails, and its peer was never tried.
"""

import errno
import fcntl
import heapq
import ipaddress
import json
import os
import select
import socket
import struct
import subprocess
import sys
import time
import zlib
from collections import Counter, OrderedDict
from contextlib import suppress
from typing import Any, Dict, List, Optional, Tuple, cast

VERSION, FULL_TTL, MOST_SOCKETS, MOST_INPUT_BYTES = 1, 64, 480, 64 * 1024 * 1024
LATE_SECONDS, LINGER_SECONDS, LOCK_SECONDS, ECHO_SECONDS = 0.25, 0.5, 3.0, 1.5
PROGRAMS = dict(os.environ, PATH="/usr/sbin:/sbin:/usr/bin:/bin", LC_ALL="C")
PING = ["/usr/bin/env", "ping", "-n", "-q", "-c", "3", "-i", "0.2", "-W", "1", "-I"]
OFFSET = time.time() - time.monotonic()
SO_BINDTODEVICE, SO_RXQ_OVFL, MSG_ERRQUEUE, PMTUDISC_PROBE = 25, 40, 0x2000, 3
MAGIC, V4, V6 = b"TRPB", socket.AF_INET, socket.AF_INET6
LEVEL = {V4: socket.IPPROTO_IP, V6: socket.IPPROTO_IPV6}
# option numbers of linux/in.h and linux/in6.h: TOS, TTL, MTU_DISCOVER, RECVERR, PKTINFO, RECVTOS; what arrives as TOS
OPTIONS = {V4: (1, 2, 10, 11, 8, 13, 1), V6: (67, 16, 23, 25, 49, 66, 67)}
PKTINFO, HEADERS = {V4: 8, V6: 50}, {V4: 28, V6: 48}  # how the control message is numbered; bytes of IP and UDP
HEAD = struct.Struct("!BBHIB3s4sIIHBB")  # the BTH of RoCEv2 (12 bytes), then magic, run, flow, source port, TTL, spare
# ICMP and ICMPv6 by origin of the error (linux/errqueue.h), type and code; None is any other code
MESSAGES: Dict[Tuple[int, int, Optional[int]], str] = {
    (2, 11, None): "time exceeded", (2, 3, 4): "too big", (2, 3, 3): "port unreachable", (2, 3, 1): "host unreachable",
    **{(2, 3, code): "prohibited" for code in (9, 10, 13)}, (2, 3, None): "net unreachable", (3, 2, None): "too big",
    (3, 3, None): "time exceeded", (3, 1, 4): "port unreachable", (3, 1, 3): "host unreachable",
    (3, 1, 1): "prohibited", (3, 1, None): "net unreachable",
}  # fmt: skip

Json = Dict[str, Any]
Key = Tuple[Any, ...]


class RefusedError(Exception):
    """What is asked is not understood, or not allowed on this host."""


def now() -> float:
    """The time by this host's clock as it was at the start: where it is set during a run, no time of that moves."""
    return OFFSET + time.monotonic()


def listener(address: str, port: int) -> socket.socket:
    """A socket that reports interface of arrival, TOS, and packets that its own buffer dropped."""
    of = V6 if ":" in address else V4
    made = socket.socket(of, socket.SOCK_DGRAM)
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    made.setsockopt(socket.SOL_SOCKET, SO_RXQ_OVFL, 1)
    for option in OPTIONS[of][4:6]:
        made.setsockopt(LEVEL[of], option, 1)
    made.bind((address, port))
    return made


def sender(flow: Json, source_port: int) -> socket.socket:
    """A socket of one flow and source port: bound to the address, and for `wired` to the interface as well."""
    of = V6 if ":" in flow["address"] else V4
    tos, _, discover, errors = OPTIONS[of][:4]
    made = socket.socket(of, socket.SOCK_DGRAM)
    made.setblocking(False)
    if flow["mode"] == "wired":
        made.setsockopt(socket.SOL_SOCKET, SO_BINDTODEVICE, flow["port"].encode() + b"\0")
    for option, value in ((errors, 1), (discover, PMTUDISC_PROBE), (tos, flow["tos"])):
        made.setsockopt(LEVEL[of], option, value)
    made.bind((flow["address"], source_port))
    return made


class Probe:
    """One run on one host: the flows of `sends`, and listeners for those of `hears`."""

    def __init__(self, tasks: Json) -> None:
        self.tasks = tasks
        self.run = zlib.crc32(tasks["run"].encode()) & 0xFFFFFFFF
        self.heard_flows = {flow["flow"] for flow in tasks["hears"]}
        counters: List[Counter[Key]] = [Counter() for _ in range(4)]
        self.sent, self.heard, self.hops, self.trouble = counters
        self.full: Dict[int, int] = {}
        self.in_flight: Dict[Key, Tuple[int, int, float]] = {}
        self.senders: "OrderedDict[Key, socket.socket]" = OrderedDict()
        self.names = dict(socket.if_nameindex())
        self.sockets: Dict[int, Tuple[socket.socket, Any]] = {}
        self.poll = select.epoll()  # poll() would look at all senders again for each packet
        self.stopped, self.planned = False, sum(row[3] for flow in tasks["sends"] for row in flow["packets"])
        self.said = self.due = now()

    def listen(self) -> None:
        """Opens the listeners, and watches for the end of standard input."""
        try:
            self.poll.register(0, select.EPOLLIN)
        except PermissionError:  # a file: behind its line it has ended
            self.stopped = True
        for address, port in self.tasks["listen"]:
            try:
                made = listener(address, port)
            except OSError as error:
                self.trouble[(name_of(error), "", None, f"listening on {address}")] += 1
                self.heard_flows -= {one["flow"] for one in self.tasks["hears"] if one["peer_address"] == address}
                continue
            self.sockets[made.fileno()] = (made, None)
            self.poll.register(made.fileno(), select.EPOLLIN)

    def hear(self, made: socket.socket) -> None:
        """Counts what a listener has received."""
        of = made.family
        while True:
            try:
                data, controls, _, _ = made.recvmsg(65535, 512)
            except OSError:
                return
            tos = index = 0
            for level, kind, value in controls:
                if level == LEVEL[of] and kind == OPTIONS[of][6]:
                    tos = value[0] if len(value) < 4 else struct.unpack("i", value[:4])[0]
                elif level == LEVEL[of] and kind == PKTINFO[of]:
                    index = struct.unpack("I", value[:4] if of == V4 else value[16:20])[0]
                elif level == socket.SOL_SOCKET and kind == SO_RXQ_OVFL:
                    self.full[made.fileno()] = struct.unpack("I", value[:4])[0]
            if len(data) < HEAD.size or data[12:16] != MAGIC:
                continue
            run, flow, source_port, ttl = struct.unpack_from("!IIHB", data, 16)
            if run != self.run:
                continue
            if flow in self.heard_flows:
                on, size = self.names.get(index, f"#{index}"), len(data) + HEADERS[of]
                self.heard[(flow, source_port, ttl, size, tos, on)] += 1
            else:
                self.trouble[("unknown flow", "", None, None)] += 1

    def complain(self, made: socket.socket, key: Key) -> None:
        """Counts the ICMP errors that a sender's socket has received."""
        of = made.family
        while True:
            try:
                _, controls, _, _ = made.recvmsg(2048, 512, MSG_ERRQUEUE)
            except OSError:
                return
            for level, kind, value in controls:
                if level == LEVEL[of] and kind == OPTIONS[of][3]:
                    _, origin, icmp, code, _, info, _ = struct.unpack_from("IBBBBII", value)
                    message = MESSAGES.get((origin, icmp, code)) or MESSAGES.get((origin, icmp, None))
                    if message:
                        offender = value[20:24] if of == V4 else value[24:40]
                        ttl, size, _ = self.in_flight.get(key, (0, 0, 0.0))
                        self.hops[(*key, ttl, size, socket.inet_ntop(of, offender), message, info)] += 1

    def drain(self, until: float) -> None:
        """Reads what arrives until a time; ends early where standard input ends."""
        left = 1.0
        while left > 0 and not self.stopped:
            left = until - now()
            for number, _ in self.poll.poll(max(0.0, left)):
                if number:
                    made, key = self.sockets[number]
                    self.complain(made, key) if key else self.hear(made)
                elif not os.read(0, 65536):
                    self.stopped = True
                    self.poll.unregister(0)

    def socket_of(self, flow: Json, source_port: int) -> Optional[socket.socket]:
        """The socket of a flow and source port; for a new one the longest unused is closed. None where refused."""
        key = (flow["flow"], source_port)
        made = self.senders.pop(key, None)
        if made is None:
            if len(self.senders) >= MOST_SOCKETS:
                _, old = self.senders.popitem(last=False)
                self.poll.unregister(old.fileno())
                del self.sockets[old.fileno()]
                old.close()
            try:
                made = sender(flow, source_port)
            except OSError as error:
                self.trouble[(name_of(error), flow["port"], flow["flow"], None)] += 1
                return None
            self.sockets[made.fileno()] = (made, key)
            self.poll.register(made.fileno(), 0)
        self.senders[key] = made
        return made

    def send_one(self, made: socket.socket, flow: Json, source_port: int, ttl: int, size: int) -> None:
        """Sends one packet, again after a pending ICMP error."""
        key, of = (flow["flow"], source_port), made.family
        self.in_flight[key] = (ttl, size, now())
        head = HEAD.pack(0x64, 0, 0xFFFF, source_port, 0, b"\0\0\0", MAGIC, self.run, flow["flow"], source_port, ttl, 0)
        data = head + b"\0" * max(0, size - HEADERS[of] - len(head))
        for again in (False, True):
            try:
                made.setsockopt(LEVEL[of], OPTIONS[of][1], ttl)
                made.sendto(data, (flow["peer_address"], self.tasks["port"]))
                self.sent[(*key, ttl, size)] += 1
                return
            except OSError as error:
                self.complain(made, key)
                if again or error.errno == errno.EMSGSIZE:
                    self.trouble[(name_of(error), flow["port"], flow["flow"], None)] += 1
                    return

    def send_all(self) -> None:
        """Sends what is scheduled, as the limits allow. A socket waits before it sends with another TTL or size."""
        start = self.tasks["start_at"]
        queue = [(start + row[4], flow["flow"], n, row[3], flow) for flow in self.tasks["sends"] for n, row in
                 enumerate(flow["packets"])]  # fmt: skip
        heapq.heapify(queue)
        while queue:
            at, number, place, left, flow = heapq.heappop(queue)
            source_port, ttl, size, _, _, every = flow["packets"][place]
            *before, last = self.in_flight.get((flow["flow"], source_port), (ttl, size, 0.0))
            free = last + self.tasks["wait"] if before != [ttl, size] else 0.0
            if free > max(at, now()):
                heapq.heappush(queue, (free, number, place, left, flow))
                continue
            if self.pace(at):
                for _, _, _, count, one in [(at, number, place, left, flow), *queue]:
                    self.trouble[("out of time", one["port"], one["flow"], None)] += count
                return
            made = self.socket_of(flow, source_port)
            if made is not None:
                self.send_one(made, flow, source_port, ttl, size)
                if left > 1:
                    heapq.heappush(queue, (at + every, number, place, left - 1, flow))

    def echoes(self) -> List[List[Any]]:
        """Flow and output of `ping` for each that shall have a time: all at once, before anything else is sent."""
        until = min(now() + ECHO_SECONDS, self.tasks["start_at"] - LATE_SECONDS)
        asked = self.tasks.get("echoes", []) if until > now() + 1 else []
        begun = {one["flow"]: subprocess.Popen(
            [*PING, one["address"], one["peer_address"]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env=PROGRAMS) for one in self.tasks["sends"] if one["flow"] in asked}  # fmt: skip
        self.drain(until if begun else now())
        for process in begun.values():
            process.kill()
        return [[flow, one.communicate()[0].decode("ascii", "replace")[-400:]] for flow, one in begun.items()]

    def pace(self, at: float) -> bool:
        """Waits for the turn of the next packet, due at a time. Returns whether the run is over."""
        self.due = max(at, self.due + 1.0 / self.tasks["packets_per_second"], now() - 0.05)
        self.drain(min(self.due, self.tasks["stop_at"]))
        if now() - self.said >= 0.5:
            self.said = now()
            say(f"sent {sum(self.sent.values())} of {self.planned}")
        return self.stopped or now() >= self.tasks["stop_at"]

    def go(self) -> Json:
        """The whole run: listens from now on, sends from `start_at`, listens until `stop_at`."""
        begun = now()
        self.listen()
        routes, echoes = departures(self.tasks["sends"]), self.echoes()
        late = now() - self.tasks["start_at"]
        if late > LATE_SECONDS:
            self.trouble[("started late", "", None, None)] += int(1000 * late)
        self.drain(self.tasks["start_at"])
        self.send_all()
        say(f"sent {sum(self.sent.values())} of {self.planned}")
        if self.stopped:  # others may have sent until now: what is under way shall not look lost
            self.stopped, self.tasks["stop_at"] = False, min(self.tasks["stop_at"], now() + LINGER_SECONDS)
        self.drain(self.tasks["stop_at"])
        if sum(self.full.values()):
            self.trouble[("buffer full", "", None, None)] += sum(self.full.values())
        flows = self.tasks["sends"] + self.tasks["untried"]
        tables = {n: [[*key, count] for key, count in getattr(self, n).items()] for n in ("sent", "heard", "hops")}
        troubles = [[what, port, flow, count, detail] for (what, port, flow, detail), count in self.trouble.items()]
        return dict(
            tables, truerail_probe=VERSION, run=self.tasks["run"], host=self.tasks["host"], echoes=echoes,
            sends=[about(one, left_by=routes.get((one["address"], one["peer_address"]))) for one in flows],
            hears=[about(flow) for flow in self.tasks["hears"] if flow["flow"] in self.heard_flows],
            trouble=self.tasks["trouble"] + troubles, started=self.tasks["start_at"],
            seconds=round(now() - begun, 3), cpu_seconds=round(time.process_time(), 3),
        )  # fmt: skip


def about(flow: Json, **more: Optional[str]) -> Json:
    """What the recording says of a flow."""
    names = ("flow", "port", "peer", "peer_port", "mode", "tos", "pinglist", "address", "peer_address")
    return dict({name: flow[name] for name in names if name in flow}, **more)


def departures(flows: List[Json]) -> Dict[Tuple[str, str], str]:
    """The interface of `ip route get DESTINATION from SOURCE` by both, for flows as routed that have a route."""
    pairs = sorted({(flow["address"], flow["peer_address"]) for flow in flows if flow["mode"] == "routed"})
    asked = "".join(f"route get {to} from {source}\n" for source, to in pairs)
    command = ["ip", "-o", "-force", "-batch", "-"]
    try:
        done = subprocess.run(
            command, input=asked.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=PROGRAMS, timeout=5
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found = {}
    for line in done.stdout.decode("ascii", "replace").splitlines():
        words = line.split()
        if "from" in words[1:-1] and "dev" in words[1:-1]:
            at = words.index("from")
            found[words[at + 1], words[at - 1]] = words[words.index("dev") + 1]
    return found


def name_of(error: OSError) -> str:
    """ENETUNREACH and the like."""
    return errno.errorcode.get(error.errno or 0, str(error))


def say(line: str) -> None:
    """A line of progress. That it is no longer read is no error here: standard input ends then."""
    with suppress(OSError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def alone(path: str) -> Json:
    """The limits in a file, which is locked until the exit: they are for all runs at one time. Raises RefusedError."""
    number, until = os.open(path, os.O_RDONLY), now() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with open(number, closefd=False) as file:
                return cast(Json, json.load(file))
        except BlockingIOError as error:
            if now() > until:
                raise RefusedError("another run is under way on this host") from error
            time.sleep(0.1)


def refuse(tasks: Json, limits: Json) -> None:
    """Raises RefusedError where the tasks exceed what this host allows. JSON of Python may have NaN: no limit fits."""
    networks = [ipaddress.ip_network(one) for one in limits["networks"]]
    everybody = {one.broadcast_address for one in networks if one.version == 4 and one.prefixlen < 31}
    first, last = limits["source_ports"]
    packets = sum(row[3] for flow in tasks["sends"] for row in flow["packets"]) + 3 * len(tasks.get("echoes", []))
    asked = {"seconds": tasks["stop_at"] - now(), "packets": packets}
    for name, value in dict(asked, packets_per_second=tasks["packets_per_second"]).items():
        if not value <= limits[name]:
            raise RefusedError(f"{name} of {value:g}, at most {limits[name]:g} are allowed here")
    if not (tasks["packets_per_second"] > 0 and tasks["start_at"] <= tasks["stop_at"]):
        raise RefusedError("a rate or a start that no run has")
    for port in [tasks["port"]] + [port for _, port in tasks["listen"]]:
        if port not in limits["ports"]:
            raise RefusedError(f"port {port} is not allowed here")
    for flow in tasks["sends"]:
        name = f"flow {flow['flow']}"
        if "%" in flow["address"] + flow["peer_address"]:  # any text is a zone to Python
            raise ValueError("an address with a zone")
        _, peer = map(ipaddress.ip_address, (flow["address"], flow["peer_address"]))
        if peer.is_multicast or peer.is_unspecified or peer in everybody or not any(peer in one for one in networks):
            raise RefusedError(f"{peer} is in no network that is allowed here, or is no address of one host")
        for port, ttl, size, count, at, every in flow["packets"]:
            if not first <= port <= last:
                raise RefusedError(f"{name}: source port {port} is not allowed here")
            whole = all(type(value) is int for value in (port, ttl, size, count))
            if not (whole and 64 <= size <= 65000 and 1 <= ttl <= FULL_TTL and count > 0 and at >= 0 and every >= 0):
                raise RefusedError(f"{name}: a size, TTL, count or time that no probe has")
        if flow["tos"] & ~0xFC:
            raise RefusedError(f"{name}: a TOS that no probe has")


def main(arguments: List[str]) -> int:
    """Reads limits and tasks, probes, prints. Returns the exit status: 3 where the tasks are refused."""
    try:
        tasks = json.loads(sys.stdin.buffer.readline(MOST_INPUT_BYTES).decode())
        say(f"clock {now():.3f}")
        if tasks["version"] != VERSION:
            raise RefusedError(f"tasks of version {tasks['version']}, this script knows {VERSION}: install the new one")
        refuse(tasks, alone(arguments[0]) if arguments else tasks["limits"])
    except (RefusedError, OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        lost = f"tasks or limits are not understood ({type(error).__name__}: {error})"
        say(f"refused: {error if isinstance(error, (RefusedError, OSError)) else lost}")
        return 3
    sys.stdout.write(json.dumps(Probe(tasks).go(), separators=(",", ":")) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
