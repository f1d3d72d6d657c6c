"""A counter is stuck at its highest value, so that new events are unknown.

## Why it matters
InfiniBand's port counters do not wrap when they are full: they stay at all ones. A link whose error counter is full
looks as quiet as a clean one, and no rule can detect its errors.

## How it is detected
The newest reading of a counter that saturates is exactly its highest value: 255 of `link_downed`, 65535 of
`symbol_error`, `port_rcv_errors` and `port_xmit_discards`, 2^32 - 1 of `port_xmit_wait`. The rules treat it as unknown,
never as "no new errors".

## What to do
Note its value, then clear it, on the host or on the subnet manager's machine: `perfquery -R` for the port. truerail
itself clears nothing. A counter that is full again soon after is a fault of its own: look at the link.

## Decide
- `symbol_errors`: errors of the link since the last clearing. Note the value, clear it, and look again in ten minutes:
  full again is a bad link (LNK004).
- `no longer counts`: what happens since is unknown. Clear this one port's counters only: `perfquery -R LID PORT`.

## False positives
A counter that filled up over months and was never cleared. The link may be healthy.
"""

from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import PortCounters, Severity
from truerail.model.columns import grouped


@rule("TEL004", Severity.WARNING, [PortCounters])
def counter_saturated(round: Round) -> Findings:
    """Planned ports with a full counter."""
    telemetry = round.telemetry
    by_port = grouped((port, quantity.value) for quantity, ports in telemetry.full().items() for port in ports.tolist())
    for port, quantities in sorted(by_port.items()):
        name, counters = telemetry.wiring.index.spell(port), ", ".join(sorted(quantities))
        yield counter_saturated.found(
            name,
            summary=f"{name} no longer counts {counters}: the counter is saturated",
            action=f"Note it, then clear the counters of {name} (`perfquery -R`).",
            detail=(("counters", counters),),
        )


PLAN = "gpu-1/mlx5_0 leaf-0/p1 rail=0"

EXAMPLES = {
    "Symbol errors reached 65535 in the newest reading.": Case(
        finds="gpu-1/mlx5_0", rates={"gpu-1/mlx5_0": {"symbol_error": [*(0.0,) * 11, 6553.5], "port_xmit_data": 1e9}}
    ),
    # Quiet:
    "One error less: it still counts.": Case(rates={"gpu-1/mlx5_0": {"symbol_error": [*(0.0,) * 11, 6553.4]}}),
    "A counter that is wider may well have this value.": Case(
        rates={"gpu-1/mlx5_0": {"rx_symbol_err_phy": [*(0.0,) * 11, 6553.5]}}
    ),
}
