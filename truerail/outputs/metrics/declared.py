"""Every metric there is: its name, type, labels, unit, meaning and an example query. Rendered and documented from here.

Names follow the conventions of Prometheus: one prefix, base units, `_total` for counters, `_info` for a 1 that carries
labels, `_timestamp_seconds` for times. A label that has nothing to say is left out, which to Prometheus is the same as
an empty one. What is not known has no series: no figure here is 0 because nobody told.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

PREFIX: Final = "truerail_"


class Kind(StrEnum):
    """Types of the text format that are used."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Declared:
    """One metric. `labels` are all that its series may carry, `query` an example in PromQL."""

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    says: str
    query: str


CATALOGUE: Final[dict[str, Declared]] = {}
"""Every metric by name, in the order of the reference."""


def _declare(kind: Kind, name: str, unit: str, labels: str, says: str, query: str) -> Declared:
    declared = Declared(PREFIX + name, kind, unit, tuple(labels.split()), says, query)
    if CATALOGUE.setdefault(declared.name, declared) is not declared:
        raise ValueError(f"{declared.name} is declared twice")
    return declared


def _gauge(name: str, unit: str, labels: str, says: str, query: str) -> Declared:
    return _declare(Kind.GAUGE, name, unit, labels, says, query)


def _counter(name: str, unit: str, labels: str, says: str, query: str) -> Declared:
    return _declare(Kind.COUNTER, name, unit, labels, says, query)


_LINK = "fabric pod host rail plane nic"
_UPLINK = "fabric pod switch switch_port"

LINK_STATE = _gauge(
    "link_state", "state", _LINK,
    "How a planned cable of a host stands: 0 right, 1 unknown, 2 missing, 3 wrong. Above 1 it is known to be bad; "
    "unknown is neither good nor bad. The maximum over links is the worst.",
    "truerail_link_state > 1",
)  # fmt: skip
LINK_INFO = _gauge(
    "link_info", "1", f"{_LINK} switch switch_port rack switch_rack netdev device port pci_bus_id gpu",
    "What a planned cable of a host is, for joins: where it belongs, and the NIC's names on the host where it told.",
    "(truerail_link_state > 1) * on(fabric, host, nic) group_left(switch, switch_port) truerail_link_info",
)  # fmt: skip
LINK_SEEN_INFO = _gauge(
    "link_seen_info", "1", f"{_LINK} seen_switch seen_switch_port seen_rail",
    "Where a wrong cable is seen instead. Only where that is a device of the plan.",
    "truerail_link_seen_info * on(fabric, host, nic) group_left(switch, switch_port) truerail_link_info",
)  # fmt: skip
UPLINK_STATE = _gauge(
    "uplink_state", "state", _UPLINK,
    "How a planned cable between switches stands, by its lower end: 0 right, 1 unknown, 2 missing, 3 wrong.",
    "truerail_uplink_state > 1",
)  # fmt: skip
UPLINK_INFO = _gauge(
    "uplink_info", "1", f"{_UPLINK} peer peer_port",
    "Where a planned cable between switches leads.",
    "truerail_uplink_state * on(fabric, switch, switch_port) group_left(peer, peer_port) truerail_uplink_info",
)  # fmt: skip
LINKS = _gauge(
    "links", "cables", "fabric pod rail plane state",
    "Planned cables of hosts by state. The states add up to what is planned.",
    'sum by (rail) (truerail_links{state!="right"})',
)  # fmt: skip
LINKS_VERIFIED = _gauge(
    "links_verified", "cables", "fabric pod rail plane verified",
    "Planned cables of hosts by who confirms where they are plugged, be it the right place or a wrong one.",
    'sum(truerail_links_verified{verified="both ends"}) / sum(truerail_links_verified)',
)  # fmt: skip
UPLINKS = _gauge(
    "uplinks", "cables", "fabric pod state",
    "Planned cables between switches by state, in the pod of the lower switch.",
    'sum by (pod) (truerail_uplinks{state!="right"})',
)  # fmt: skip
RAIL_STATE = _gauge(
    "rail_state", "state", "fabric pod rail",
    "The worst state among the cables of a rail in a pod: 0 right, 1 unknown, 2 missing, 3 wrong.",
    "max by (rail) (truerail_rail_state)",
)  # fmt: skip
RAIL_RIGHT = _gauge(
    "rail_right_ratio", "0..1", "fabric pod rail",
    "A rail's health in a pod: the share of its planned cables that are known to be right.",
    "bottomk(5, truerail_rail_right_ratio)",
)  # fmt: skip
HOST_LINKS = _gauge(
    "host_links", "cables", "fabric pod host state",
    "Planned cables of a host by state.",
    'truerail_host_links{state="right"} / on(fabric, host) sum by (fabric, host) (truerail_host_links)',
)  # fmt: skip
HOSTS = _gauge(
    "hosts", "hosts", "fabric pod state",
    "Hosts by their rails: `whole` where every cable is right, `broken` where one is wrong or missing, else `unknown`.",
    'sum(truerail_hosts{state="whole"}) / sum(truerail_hosts)',
)  # fmt: skip
DEVICES = _gauge(
    "devices", "devices", "fabric pod role", "Devices in the plan.", "sum by (role) (truerail_devices)"
)  # fmt: skip
DEVICES_READ = _gauge(
    "devices_read", "devices", "fabric pod role",
    "Planned devices that gave at least one readable answer.",
    "sum by (role) (truerail_devices) - sum by (role) (truerail_devices_read)",
)  # fmt: skip
GPU_NIC_AFFINITY = _gauge(
    "gpu_nic_affinity", "0 or 1", f"{_LINK} gpu",
    "Whether a GPU's nearest planned NIC carries the GPU's own rail: 1 it does, 0 another GPU's. One series for each "
    "GPU and nearest NIC; none where the host did not tell its topology or nobody can say which rail the GPU's is.",
    "count by (host) (truerail_gpu_nic_affinity == 0)",
)  # fmt: skip
DEVICE_FINDINGS = _gauge(
    "device_findings", "findings", "fabric pod host switch rail rule severity muted",
    "Findings on one device and rail: `host` or `switch` names it. Only where there are some.",
    'sum by (host, rule) (truerail_device_findings{severity="critical", muted="no"})',
)  # fmt: skip

FINDINGS = _gauge(
    "findings", "findings", "fabric rule severity muted",
    "Findings of the whole fabric. 0 where a rule passed; no series for a rule that could not judge.",
    'sum by (severity) (truerail_findings{muted="no"})',
)  # fmt: skip
FINDING_LIVES = _gauge(
    "finding_lives", "findings", "fabric severity state",
    "Findings by where their life stands; those that recover or that nobody can see now are in no other count.",
    'truerail_finding_lives{state="flapping"} > 0',
)  # fmt: skip
CAUSES = _gauge(
    "causes", "causes", "fabric kind muted",
    "Causes by kind. A cause is muted where every finding that it explains is.",
    'sum by (kind) (truerail_causes{muted="no"})',
)  # fmt: skip
CAUSE_MOVES = _gauge(
    "cause_moves", "cables", "fabric kind", "Cables to move in order to put the causes right.",
    "sum(truerail_cause_moves)",
)  # fmt: skip
RULE_STATUS = _gauge(
    "rule_status", "0 or 1", "fabric rule status",
    "A rule's verdict on the whole fabric: 1 for the status that holds, 0 for the others.",
    'truerail_rule_status{status=~"unknown|error"} == 1',
)  # fmt: skip
RULE_INFO = _gauge(
    "rule_info", "1", "fabric rule name severity", "A rule's name, and its usual severity.",
    'sum by (fabric, rule) (truerail_findings{muted="no"}) * on(fabric, rule) group_left(name) truerail_rule_info',
)  # fmt: skip
PLAN_INFO = _gauge(
    "plan_info", "1", "fabric name digest inferred", "The plan in force.", 'truerail_plan_info{inferred="yes"}'
)  # fmt: skip

PUBLICATION_NUMBER = _gauge(
    "publication_number", "number", "fabric", "Number of the judgement shown; grows by one with each, over restarts.",
    "changes(truerail_publication_number[10m])",
)  # fmt: skip
PUBLICATION_AT = _gauge(
    "publication_timestamp_seconds", "seconds", "fabric", "When the newest answer in the judgement was asked for.",
    "time() - truerail_publication_timestamp_seconds",
)  # fmt: skip
PUBLICATION_AGE = _gauge(
    "publication_age_seconds", "seconds", "fabric", "How old the judgement was at the scrape.",
    "truerail_publication_age_seconds > 300",
)  # fmt: skip
JUDGEMENT_DURATION = _gauge(
    "judgement_duration_seconds", "seconds", "fabric", "What judging took, from snapshot to publication.",
    "max_over_time(truerail_judgement_duration_seconds[1h])",
)  # fmt: skip

COLLECTOR_INTERVAL = _gauge(
    "collector_interval_seconds", "seconds", "fabric collector", "How often the collector is due.",
    "truerail_collector_age_seconds > 3 * truerail_collector_interval_seconds",
)  # fmt: skip
COLLECTOR_SUCCESS = _gauge(
    "collector_success", "0 or 1", "fabric collector",
    "Whether any device gave a readable answer in the last round; `_devices_answered` says how many.",
    "truerail_collector_success == 0",
)  # fmt: skip
COLLECTOR_LAST_ROUND = _gauge(
    "collector_last_round_timestamp_seconds", "seconds", "fabric collector", "When the last round of it was.",
    "time() - truerail_collector_last_round_timestamp_seconds",
)  # fmt: skip
COLLECTOR_LAST_SUCCESS = _gauge(
    "collector_last_success_timestamp_seconds", "seconds", "fabric collector",
    "When the newest readable answer to it was asked for.",
    "time() - truerail_collector_last_success_timestamp_seconds > 900",
)  # fmt: skip
COLLECTOR_AGE = _gauge(
    "collector_age_seconds", "seconds", "fabric collector", "How old the newest readable answer was at the scrape.",
    "max by (collector) (truerail_collector_age_seconds)",
)  # fmt: skip
COLLECTOR_DURATION = _gauge(
    "collector_duration_seconds", "seconds", "fabric collector", "What the last round of it took.",
    "topk(3, truerail_collector_duration_seconds)",
)  # fmt: skip
COLLECTOR_ASKED = _gauge(
    "collector_devices_asked", "devices", "fabric collector", "Devices asked in the last round.",
    "sum(truerail_collector_devices_asked)",
)  # fmt: skip
COLLECTOR_ANSWERED = _gauge(
    "collector_devices_answered", "devices", "fabric collector", "Devices with a readable answer in the last round.",
    "truerail_collector_devices_answered / truerail_collector_devices_asked",
)  # fmt: skip
COLLECTOR_ROUNDS = _counter(
    "collector_rounds_total", "rounds", "fabric collector", "Rounds since the service started.",
    "rate(truerail_collector_rounds_total[5m])",
)  # fmt: skip
COLLECTOR_FAILURES = _counter(
    "collector_failures_total", "answers", "fabric collector", "Devices that gave no readable answer, over all rounds.",
    "rate(truerail_collector_failures_total[5m])",
)  # fmt: skip
COLLECTOR_OVERRUNS = _counter(
    "collector_overruns_total", "rounds", "fabric collector",
    "Times that the scheduler skipped a round because the last one still ran.",
    "increase(truerail_collector_overruns_total[1h]) > 0",
)  # fmt: skip

JOURNAL_HEALTH = _gauge(
    "journal_health", "0 or 1", "fabric health", "Whether what is judged is also kept: 1 for what holds.",
    'truerail_journal_health{health="failing"} == 1',
)  # fmt: skip
JOURNAL_SINCE = _gauge(
    "journal_health_timestamp_seconds", "seconds", "fabric", "Since when the journal has stood so.",
    "time() - truerail_journal_health_timestamp_seconds",
)  # fmt: skip
JOURNAL_WAITING = _gauge(
    "journal_waiting_rounds", "rounds", "fabric", "Rounds in memory that are not written yet.",
    "truerail_journal_waiting_rounds > 10",
)  # fmt: skip
JOURNAL_LOST = _counter(
    "journal_lost_rounds_total", "rounds", "fabric", "Rounds dropped because the database took nothing for too long.",
    "increase(truerail_journal_lost_rounds_total[1h]) > 0",
)  # fmt: skip
JOURNAL_WRITTEN = _counter(
    "journal_written_rounds_total", "rounds", "fabric", "Rounds written.",
    "rate(truerail_journal_written_rounds_total[5m])",
)  # fmt: skip
BUILD_INFO = _gauge("build_info", "1", "version python", "What runs.", "truerail_build_info")

SERVICE_PREFIX: Final = f"{PREFIX}service_"
"""The service names its own figures; those known are declared here, others are shown as they are called."""
SERVICE_SAYS: Final = "A figure of the service itself."

_counter(
    "service_rounds_total", "rounds", "", "Rounds of asking, of all collectors.",
    "rate(truerail_service_rounds_total[5m])",
)  # fmt: skip
_counter(
    "service_judgements_total", "judgements", "", "Snapshots judged.", "rate(truerail_service_judgements_total[5m])"
)  # fmt: skip
_counter(
    "service_judgements_failed_total", "judgements", "", "Snapshots that could not be judged because of a bug.",
    "increase(truerail_service_judgements_failed_total[1h]) > 0",
)  # fmt: skip
_gauge("service_devices_waiting", "devices", "", "Devices asked that have not answered yet.",
       "max_over_time(truerail_service_devices_waiting[10m])")  # fmt: skip
_gauge("service_event_streams", "streams", "", "Readers of the event stream.", "truerail_service_event_streams")
