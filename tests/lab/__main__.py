"""The lab's command line: `python -m tests.lab up`, and then whatever a technician does to cables and names."""

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from truerail.model import Port, Role

from . import cables, devices, fabric, losses, routing
from .layout import Layout, load
from .system import LabError

_FOLDER = Path("truerail-lab")
FAST = "--rate 1000 --per-switch 5000 --per-nic 100"
"""Limits of a path sweep that suit the lab's switches: they answer every packet whose TTL ends at them."""


def main() -> int:
    """Runs one command. 0 where it did, 1 where `status` finds something out of plan, 2 where it cannot."""
    args = _parser().parse_args()
    try:
        return int(args.run(args) or 0)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.lab", description=__doc__)
    parser.add_argument("--name", default="lab", help="which lab, where several run (default: lab)")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Callable[[argparse.Namespace], int | None], says: str, *arguments: str) -> None:
        one = commands.add_parser(name, help=says)
        for argument in arguments:
            one.add_argument(argument)
        one.set_defaults(run=run)

    up = commands.add_parser("up", help="start the fabric and say what to try")
    for size, default in (("hosts", 4), ("rails", 2), ("pods", 2), ("spines", 2), ("superspines", 2)):
        up.add_argument(f"--{size}", type=int, default=default)
    up.add_argument("--folder", type=Path, default=_FOLDER, help="where plan, inventory and key go")
    up.set_defaults(run=_up)
    command("down", _down, "end it and remove all it made")
    command("status", _status, "what is not as planned, read from cables and names themselves")
    command("swap", _swap, "swap the cables in two ports, such as gpu-001/enp26s0f0np0", "a", "b")
    command("pull", _pull, "pull the cable out of a port", "a")
    command("plug", _plug, "put a cable between two ports", "a", "b")
    command("slow", _slow, "limit what a cable carries, such as 50mbit", "a", "rate")
    command("rename", _rename, "swap the names of two devices", "a", "b")
    command("lose", _lose, "lose some of the packets that arrive at a port, such as 1% or 100%", "a", "share")
    command("polarize", _polarize, "let all switches choose the next link by the same hash")
    command("heal", _heal, "end every loss, and let each switch hash by itself again")
    run = commands.add_parser("exec", help="run a command inside a device, or inside `mgmt`, where truerail runs")
    run.add_argument("device")
    run.add_argument("command", nargs=argparse.REMAINDER)
    run.set_defaults(run=_exec)
    return parser


def _up(args: argparse.Namespace) -> None:
    folder = args.folder.resolve()
    layout = Layout(args.name, args.hosts, args.rails, args.spines, folder, args.pods, args.superspines)
    fabric.start(layout)
    print(_what_to_try(layout))


def _what_to_try(layout: Layout) -> str:
    lab = "sudo .venv/bin/python -m tests.lab" + (f" --name {layout.name}" if layout.name != "lab" else "")
    truerail = f"sudo ip netns exec {layout.management} .venv/bin/truerail"
    site = f"--plan {layout.folder}/plan.csv --inventory {layout.folder}/inventory.yaml"
    first, second = [str(port) for port in layout.jacks if port.device == layout.devices[0]][:2]
    leaves = [device.name for device in layout.fabric.plan.of_role(Role.LEAF)]
    uplinks = [cable for cable in layout.fabric.plan.cables if cable.rail is None]
    return f"""\
{layout.hosts} hosts x {layout.rails} rails: {len(layout.devices)} devices, each with its own lldpd and sshd.

  {truerail} check {site}
  {truerail} watch {site}

Then, in another terminal, do what goes wrong in a hall, and see it named:

  {lab} swap {first} {second}
  {lab} rename {leaves[0]} {leaves[-1]}
  {lab} pull {first}
  {lab} status
{_losses(lab, truerail, site, uplinks[-1].b) if uplinks else ""}
  {lab} down"""


def _losses(lab: str, truerail: str, site: str, port: Port) -> str:
    probe = f"{truerail} probe {site} --pipe --by-operator root --yes --what all {FAST}"
    return f"""
Or what no cable shows, which packets over every path do:

  {lab} lose {port} 100%
  {probe}
  {lab} heal
  {lab} polarize
"""


def _down(args: argparse.Namespace) -> None:
    fabric.stop(load(args.name))


def _status(args: argparse.Namespace) -> int:
    found = list(fabric.faults(load(args.name)))
    print("\n".join(found) or "everything is as planned")
    return int(bool(found))


def _swap(args: argparse.Namespace) -> None:
    layout = load(args.name)
    cables.swap(layout, layout.jack(args.a), layout.jack(args.b))


def _pull(args: argparse.Namespace) -> None:
    layout = load(args.name)
    cables.pull(layout, [layout.jack(args.a)])


def _plug(args: argparse.Namespace) -> None:
    layout = load(args.name)
    cables.plug(layout, layout.jack(args.a), layout.jack(args.b))


def _slow(args: argparse.Namespace) -> None:
    layout = load(args.name)
    cables.slow(layout, layout.jack(args.a), args.rate)


def _rename(args: argparse.Namespace) -> None:
    fabric.exchange_names(load(args.name), args.a, args.b)


def _lose(args: argparse.Namespace) -> None:
    layout = load(args.name)
    losses.lose(layout, layout.jack(args.a), args.share)


def _polarize(args: argparse.Namespace) -> None:
    routing.seed(load(args.name), alike=True)


def _heal(args: argparse.Namespace) -> None:
    fabric.heal(load(args.name))


def _exec(args: argparse.Namespace) -> int:
    layout = load(args.name)
    management = ["ip", "netns", "exec", layout.management]
    inside = management if args.device == "mgmt" else devices.inside(layout, layout.known(args.device))
    return subprocess.run([*inside, *args.command], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
