"""Alerts on truerail itself: whether it is there, evaluates, is in time and keeps what it found."""

from dashboards.rules.declared import Alert, Group, Series, Severity, Story, labels

C, W = Severity.CRITICAL, Severity.WARNING
KEEP = 5
_LOGS = "Read the service's log; `truerail serve --check --config truerail.yaml` says what is wrong with its settings."


def _one(metric: str, good: float, bad: float, **more: str) -> Story:
    """A gauge that goes bad, beside one that stays good."""
    fabric = more.pop("fabric", metric.removeprefix("truerail_"))
    mine = labels(fabric=fabric, **more)
    other = Series(metric, labels(fabric=fabric + "-quiet", **more), good, good)
    return Story((Series(metric, mine, good, bad),), mine, bad, (other,), 8)


def counted(metric: str, *, window: int, **more: str) -> Story:
    """A counter that climbs, beside one that stands."""
    mine = labels(**more)
    quiet = Series(metric, labels(**{**more, "fabric": "counter-quiet"}), 3, 3)
    return Story((Series(metric, mine, 3, 1, climbs=True),), mine, quiet=(quiet,), resolves=window + 8)


_COLLECTOR = {"fabric": "slow", "collector": "lldp_host"}

SERVICE_ALERTS = Group(
    "truerail.service",
    alerts=(
        Alert(
            "TruerailAbsent", C, "absent(truerail_build_info)", 5,
            "Prometheus gets no data from truerail: the cables are not monitored",
            "No series of truerail has come for five minutes. Nothing that is shown or alerted is current. Next: look "
            f"whether `truerail serve` runs and answers at /healthz, and whether Prometheus scrapes it. {_LOGS}",
            "TruerailAbsent",
            Story((Series("truerail_build_info", labels(version="1", python="3.11"), 1, None),), (), 1, resolves=1),
        ),
        Alert(
            "TruerailNoEvaluation", W, "truerail_build_info\nunless on() truerail_evaluation_number\nunless on() "
            "(increase(truerail_service_evaluations_failed_total[15m]) > 0)", 10,
            "truerail runs, and has evaluated nothing yet",
            f"truerail has answered scrapes for ten minutes without a first evaluation. Next: {_LOGS} /readyz says "
            "the same.",
            "TruerailNoEvaluation",
            Story((Series("truerail_build_info", labels(version="1", python="3.11"), 1, 1),
                   Series("truerail_evaluation_number", labels(fabric="lab"), 7, None)),
                  labels(version="1", python="3.11"), 1, resolves=8),
            keep=KEEP,
        ),
        Alert(
            "TruerailEvaluationOld", C, "truerail_evaluation_age_seconds > 900", 5,
            "What truerail shows of {{ $labels.fabric }} is {{ $value | humanizeDuration }} old",
            "The newest answer in the evaluation of {{ $labels.fabric }} is {{ $value | humanizeDuration }} old: "
            f"cables may have changed since, and no alert would say so. Next: {_LOGS}",
            "TruerailEvaluationOld", _one("truerail_evaluation_age_seconds", 40, 1200),
            keep=KEEP,
        ),
        Alert(
            "TruerailJudgeAway", C, "truerail_view_age_seconds > 30", 1,
            "The process of truerail that evaluates is away since {{ $value | humanizeDuration }}",
            "The page and the API still answer, with the last evaluation: no change since is shown or alerted. It is "
            f"started again by itself if it ended, so it ends again and again, or it hangs. Next: {_LOGS}",
            "TruerailJudgeAway", Story((Series("truerail_view_age_seconds", (), 0.4, 90),), (), 90, resolves=8),
            keep=KEEP,
        ),
        Alert(
            "TruerailEvaluationFailing", C, "increase(truerail_service_evaluations_failed_total[15m]) > 0", 1,
            "truerail cannot evaluate what it gathers",
            "truerail gathers, and fails to evaluate what it gathered, because of a bug. The page shows the last "
            "evaluation that went well. Next: the log has the traceback; roll back the last update of truerail or of "
            "the plan.",
            "TruerailEvaluationFailing",
            counted("truerail_service_evaluations_failed_total", window=15),
            keep=KEEP,
        ),
        Alert(
            "TruerailFullParseDiffers", W, "increase(truerail_service_full_parse_differences_total[1h]) > 0", 1,
            "truerail took a changed answer for an unchanged one",
            "An answer that counted as unchanged had other facts when it was parsed as a whole, because of a bug: for "
            "up to an hour a change of this device may not have been shown. It is shown now. Next: the log names the "
            "device and the collector.",
            "TruerailFullParseDiffers",
            counted("truerail_service_full_parse_differences_total", window=60),
            keep=KEEP,
        ),
        Alert(
            "TruerailRuleBroken", W, 'truerail_rule_status{status="error"} == 1', 5,
            "The rule {{ $labels.rule }} fails: it evaluates nothing in {{ $labels.fabric }}",
            "The rule {{ $labels.rule }} ended in an error, so its findings in {{ $labels.fabric }} are unknown, "
            "not none. The other rules go on. Next: the log has the traceback.",
            "TruerailRuleBroken", _one("truerail_rule_status", 0, 1, rule="CAB001", status="error"),
            keep=KEEP,
        ),
        Alert(
            "TruerailCollectorFailing", W, "truerail_collector_success == 0", 10,
            "No device gives a readable answer to {{ $labels.collector }}",
            "In {{ $labels.fabric }} no device gave a readable answer to {{ $labels.collector }} in the last rounds. "
            "Next: ask one device by hand; an update of its software may have changed the command or its output.",
            "TruerailCollectorFailing", _one("truerail_collector_success", 1, 0, collector="lldp_host"),
            keep=KEEP,
        ),
        Alert(
            "TruerailDataStale", W,
            "truerail_collector_age_seconds > 5 * truerail_collector_interval_seconds", 5,
            "The newest answer to {{ $labels.collector }} is {{ $value | humanizeDuration }} old",
            "In {{ $labels.fabric }} the newest readable answer to {{ $labels.collector }} is {{ $value | "
            "humanizeDuration }} old, more than five of its rounds. Next: see whether its rounds run, and "
            "which devices they poll.",
            "TEL002",
            Story((Series("truerail_collector_age_seconds", labels(**_COLLECTOR), 30, 600),
                   Series("truerail_collector_interval_seconds", labels(**_COLLECTOR), 60, 60)),
                  labels(**_COLLECTOR), 600, resolves=8),
            keep=KEEP,
        ),
        Alert(
            "TruerailRoundsOverrun", W, "increase(truerail_collector_missed_total[30m]) > 5", 5,
            "Rounds of {{ $labels.collector }} take longer than their interval",
            "In {{ $labels.fabric }}, more than five rounds of {{ $labels.collector }} were left out within half an "
            "hour because the one before still ran. Next: lengthen its interval, or see which devices are slow.",
            "TruerailRoundsOverrun",
            counted("truerail_collector_missed_total", window=30, fabric="overrun", collector="lldp_host"),
            keep=KEEP,
        ),
        Alert(
            "TruerailProbeLate", W,
            "truerail_service_probe_age_seconds\n> 3 * truerail_service_probe_interval_seconds", 5,
            "The background probe last went well {{ $value | humanizeDuration }} ago",
            "For three of its intervals no run of the probe brought a result: what it showed is unknown by now, and "
            "a rail that loses packets would not be found by it. Next: the log has `probed` for each run, with the "
            "hosts that took part; `truerail probe --dry-run` says why hosts are left out.",
            "TruerailProbeLate",
            Story((Series("truerail_service_probe_age_seconds", (), 120, 4000),
                   Series("truerail_service_probe_interval_seconds", (), 600, 600)), (), 4000, resolves=8),
            keep=KEEP,
        ),
        Alert(
            "TruerailJournalFailing", W, 'truerail_journal_health{health="failing"} == 1', 5,
            "truerail cannot write its journal for {{ $labels.fabric }}",
            "Evaluating goes on, and rounds wait in memory; acknowledgements are refused. Next: see whether the "
            "database "
            "runs, has space, and lets truerail in; what waits is written when it is back.",
            "TruerailJournalFailing", _one("truerail_journal_health", 0, 1, health="failing"),
            keep=KEEP,
        ),
        Alert(
            "TruerailJournalLosingRounds", C, "increase(truerail_journal_lost_rounds_total[30m]) > 0", 1,
            "truerail loses history of {{ $labels.fabric }}: the database has taken nothing for too long",
            "Rounds were dropped within half an hour. Findings keep their state; steps between are "
            "lost. Next: bring the database back.",
            "TruerailJournalLosingRounds",
            counted("truerail_journal_lost_rounds_total", window=30, fabric="losing"),
            keep=KEEP,
        ),
        Alert(
            "TruerailNotificationsWaiting", W, "truerail_service_notifications_queue_length > 0", 10,
            "{{ $value }} messages about faults wait for a receiver that takes none",
            "A receiver under `notify` has not taken a message for ten minutes; the others have theirs. Next: the log "
            "names the receiver and its error; `truerail notify test --config truerail.yaml` tries each.",
            "TruerailNotificationsWaiting",
            Story((Series("truerail_service_notifications_queue_length", (), 0, 3),), (), 3, resolves=8),
            keep=KEEP,
        ),
        Alert(
            "TruerailNotificationsLost", W, "increase(truerail_service_notifications_lost_total[1h]) > 0", 1,
            "Messages about faults did not reach a receiver, and are not sent again",
            "Within an hour a receiver under `notify` refused a message for good, or so many waited for it that the "
            "oldest were dropped. Next: read the list of causes on the page; the log names receiver and reason.",
            "TruerailNotificationsWaiting",
            counted("truerail_service_notifications_lost_total", window=60),
            keep=KEEP,
        ),
    ),
)  # fmt: skip
