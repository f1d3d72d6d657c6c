"""Alerts on judges, pollers and the bus between them: whether one judge leads, and whether answers come.

Their metrics have no fabric: the judges of one fabric are one job of Prometheus.
"""

from dashboards.rules.declared import Alert, Group, Series, Severity, Story, labels
from dashboards.rules.service import KEEP, counted

C, W = Severity.CRITICAL, Severity.WARNING
_JOB = labels(job="truerail")
_CHECK = "`truerail bus check`, with the key of a role, tries each of its servers, streams and rights."


def _at(instance: str) -> tuple[tuple[str, str], ...]:
    return labels(job="truerail", instance=instance)


def _gauge(metric: str, good: float, bad: float) -> Story:
    """A gauge of one judge that goes bad, beside that of another one that stays good."""
    quiet = Series(metric, labels(job="quiet", instance="a"), good, good)
    return Story((Series(metric, _at("a"), good, bad),), _at("a"), bad, (quiet,), 8)


def _of_job(metric: str, good: float, bad: float) -> Story:
    """The same where the alert is on all judges of a fabric."""
    quiet = Series(metric, labels(job="quiet", instance="a"), good, good)
    series = (Series(metric, _at("a"), good, bad), Series(metric, _at("b"), 0, 0))
    return Story(series, _JOB, bad, (quiet,), 8)


BUS_ALERTS = Group(
    "truerail.bus",
    alerts=(
        Alert(
            "TruerailNoLeader", C, "max by (job) (truerail_judge_leader) == 0", 1,
            "No judge of {{ $labels.job }} leads: nothing is evaluated",
            "All judges stand by. The page shows the last evaluation, and no new fault is shown or alerted. Next: see "
            f"whether the bus stores what is written to it. {_CHECK}",
            "TruerailNoLeader", _of_job("truerail_judge_leader", 1, 0),
            keep=KEEP,
        ),
        Alert(
            "TruerailTwoLeaders", C,
            "max by (job) (truerail_judge_epoch and truerail_judge_leader == 1)\n"
            "> min by (job) (truerail_judge_epoch and truerail_judge_leader == 1)", 1,
            "Two judges of {{ $labels.job }} say that they lead",
            "The journal takes the writes of the newer one alone, of epoch {{ $value }}; the other one may show or "
            "send what is old. Next: restart the judge with the lower `truerail_judge_epoch`.",
            "TruerailTwoLeaders",
            Story((Series("truerail_judge_leader", _at("a"), 1, 1), Series("truerail_judge_epoch", _at("a"), 7, 7),
                   Series("truerail_judge_leader", _at("b"), 0, 1), Series("truerail_judge_epoch", _at("b"), 0, 9)),
                  _JOB, 9, resolves=8),
            keep=KEEP,
        ),
        Alert(
            "TruerailBusAway", C, "truerail_service_bus_connected == 0", 2,
            "The judge {{ $labels.instance }} has no bus",
            "The bus does not answer, or fewer than half of the servers of its cluster run. Answers become unknown "
            "after three intervals, and nothing is called missing or repaired. Pollers go on, and send what they have "
            f"when it is back. Next: see whether its servers run. {_CHECK}",
            "TruerailBusAway", _gauge("truerail_service_bus_connected", 1, 0),
            keep=KEEP,
        ),
        Alert(
            "TruerailBusServerAway", W, "max by (job) (truerail_service_bus_copies_missing) > 0", 5,
            "{{ $value }} servers of the bus are away, or behind",
            "The cluster goes on without them. When fewer than half of its servers run, the bus stores nothing, and "
            f"all becomes unknown. Next: start what is away. {_CHECK}",
            "TruerailBusServerAway", _of_job("truerail_service_bus_copies_missing", 0, 1),
            keep=KEEP,
        ),
        Alert(
            "TruerailZoneWithoutPoller", C, "max by (job) (truerail_service_bus_zones_without_poller) > 0", 2,
            "{{ $value }} zones have no poller: their devices are not monitored",
            "No poller runs in a zone of the inventory. Its devices are unknown after three intervals; findings on "
            "them stay open as unseen. Next: the reason of a device that is unknown names its zone; start a poller "
            "there: `truerail serve --role poller --zone ZONE`.",
            "TruerailZoneWithoutPoller", _of_job("truerail_service_bus_zones_without_poller", 0, 1),
            keep=KEEP,
        ),
        Alert(
            "TruerailBusStoreLost", W, "increase(truerail_service_bus_store_losses_total[1h]) > 0", 1,
            "The bus has lost what it had stored",
            "The streams were made again, and pollers have sent all again: answers stay valid, up to a minute of "
            "counters is lost. Next: look at the disk and the folder `store_dir` of the bus.",
            "TruerailBusStoreLost", counted("truerail_service_bus_store_losses_total", window=60),
            keep=KEEP,
        ),
        Alert(
            "TruerailBusOtherSchema", W, "increase(truerail_service_bus_other_schema_total[1h]) > 0", 1,
            "Pollers send what this judge cannot read",
            "Some pollers are of a newer version, whose messages this judge counts and drops: their devices become "
            "unknown. Next: upgrade the judges, then the pollers; the log names the schema.",
            "TruerailBusOtherSchema", counted("truerail_service_bus_other_schema_total", window=60),
            keep=KEEP,
        ),
        Alert(
            "TruerailPollersRestarting", W, "increase(truerail_service_poller_restarts_total[1h]) > 2", 1,
            "Processes that poll end again and again",
            "The service starts them again, and their answers stay valid for three intervals. Next: the service's log "
            "has their exit status; the kernel's log shows one that had no memory left.",
            "TruerailPollersRestarting", counted("truerail_service_poller_restarts_total", window=60),
            keep=KEEP,
        ),
    ),
)  # fmt: skip
