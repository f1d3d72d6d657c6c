"""The metrics of probes: what was reached, lost and not tried on each rail, and how the background probe goes."""

from typing import Final

from truerail.outputs.metrics.declaring import counter, gauge

PROBE_NICS: Final = gauge(
    "probe_nics", "NICs", "fabric rail state",
    "NICs of a rail by what probes show: `reached` both ways, `lost`, `partly` lost, `untried`. No series without "
    "results that still count.",
    'sum by (rail) (truerail_probe_nics{state="untried"})',
)  # fmt: skip
PROBE_PAIRS: Final = gauge(
    "probe_pairs", "pairs", "fabric rail state",
    "Ordered pairs of NICs of a rail: `reached`, `lost`, `wrong_nic`, `implied` by another pair of the same leaves, "
    "`untried`.",
    'sum by (fabric) (truerail_probe_pairs{state=~"lost|wrong_nic"})',
)  # fmt: skip
PROBE_LOSS: Final = gauge(
    "probe_loss_ratio", "ratio", "fabric rail",
    "Share of the packets sent on a rail that did not arrive, of those that had a witness. No series where none had.",
    "truerail_probe_loss_ratio > 0",
)  # fmt: skip
PROBE_HOSTS: Final = gauge(
    "probe_hosts", "hosts", "fabric state",
    "Hosts by their part in the probes: `probed`, or `left_out` because they are busy, unknown or without a login.",
    'truerail_probe_hosts{state="left_out"}',
)  # fmt: skip
PROBE_AT: Final = gauge(
    "probe_timestamp_seconds", "seconds", "fabric", "When the oldest part that counts was probed.",
    "time() - truerail_probe_timestamp_seconds",
)  # fmt: skip
gauge("service_probe_interval_seconds", "seconds", "", "How often the service probes; no series where it does not.",
      "truerail_service_probe_interval_seconds")  # fmt: skip
gauge(
    "service_probe_age_seconds", "seconds", "",
    "Since the background probe last went well, or since it was set. All hosts left out is no failure.",
    "truerail_service_probe_age_seconds > 3 * truerail_service_probe_interval_seconds",
)  # fmt: skip
gauge("service_probe_duration_seconds", "seconds", "", "What the last run of the background probe took.",
      "max_over_time(truerail_service_probe_duration_seconds[1h])")  # fmt: skip
counter("service_probe_runs_total", "runs", "", "Runs of the background probe.",
        "increase(truerail_service_probe_runs_total[1h])")  # fmt: skip
counter(
    "service_probe_runs_failed_total", "runs", "", "Those of which no host reported anything.",
    "increase(truerail_service_probe_runs_failed_total[1h]) > 0",
)  # fmt: skip
counter("service_probe_packets_total", "packets", "", "Packets that hosts reported as sent in these runs.",
        "rate(truerail_service_probe_packets_total[1h])")  # fmt: skip
