"""Every metric: its name, type, labels, unit, meaning and an example query. Rendered and documented from here.

Names follow the conventions of Prometheus: one prefix, base units, `_total` for counters, `_info` for a 1 that carries
labels, `_timestamp_seconds` for times. An empty label is left out, which is the same to Prometheus. An unknown value
has no series: no value here is 0 for lack of data.
"""

from typing import Final

from truerail.outputs.metrics import (  # noqa: F401 - each fills the catalogue
    declared_faults,
    declared_jobs,
    declared_links,
    declared_probes,
    declared_traffic,
)
from truerail.outputs.metrics.declaring import CATALOGUE as CATALOGUE
from truerail.outputs.metrics.declaring import PREFIX as PREFIX
from truerail.outputs.metrics.declaring import Declared as Declared
from truerail.outputs.metrics.declaring import Kind as Kind
from truerail.outputs.metrics.declaring import counter, gauge

FINDINGS = gauge(
    "findings", "findings", "fabric rule severity muted",
    "Findings of the whole fabric. 0 where a rule passed; no series for a rule that could not evaluate.",
    'sum by (severity) (truerail_findings{muted="no"})',
)  # fmt: skip
FINDING_LIVES = gauge(
    "findings_by_state", "findings", "fabric severity state",
    "Findings by state of their life; those that recover or that no device can report now are in no other count.",
    'truerail_findings_by_state{state="flapping"} > 0',
)  # fmt: skip
CAUSES = gauge(
    "causes", "causes", "fabric kind muted",
    "Causes by kind. A cause is muted where every finding that it explains is.",
    'sum by (kind) (truerail_causes{muted="no"})',
)  # fmt: skip
CAUSE_MOVES = gauge(
    "cause_moves", "cables", "fabric kind", "Cables to move in order to repair the causes.",
    "sum(truerail_cause_moves)",
)  # fmt: skip
CAUSES_UNPROVEN = gauge(
    "causes_unproven", "causes", "fabric",
    "Causes whose order of moves was refused by its replay: a fault of truerail, to be reported.",
    "truerail_causes_unproven > 0",
)  # fmt: skip
RULE_STATUS = gauge(
    "rule_status", "0 or 1", "fabric rule status",
    "A rule's verdict on the whole fabric: 1 for the status that holds, 0 for the others.",
    'truerail_rule_status{status=~"unknown|error"} == 1',
)  # fmt: skip
RULE_INFO = gauge(
    "rule_info", "1", "fabric rule name severity", "A rule's name, and its usual severity.",
    'sum by (fabric, rule) (truerail_findings{muted="no"}) * on(fabric, rule) group_left(name) truerail_rule_info',
)  # fmt: skip
PLAN_INFO = gauge(
    "plan_info", "1", "fabric name digest inferred", "The plan in force.", 'truerail_plan_info{inferred="yes"}'
)  # fmt: skip

JOBS_RUNNING = gauge(
    "jobs_running", "jobs", "fabric source",
    "Running jobs that a scheduler reports, or last reported where it is away.",
    "sum by (source) (truerail_jobs_running)",
)  # fmt: skip
JOB_SOURCE_SUCCESS = gauge(
    "job_source_success", "0 or 1", "fabric source",
    "Whether the scheduler answered when it was last asked for its jobs; until it does they are those of before.",
    "truerail_job_source_success == 0",
)  # fmt: skip
JOB_SOURCE_AGE = gauge(
    "job_source_age_seconds", "seconds", "fabric source",
    "How old the jobs of a scheduler were at the evaluation; no series for one that never answered.",
    "truerail_job_source_age_seconds > 120",
)  # fmt: skip

PUBLICATION_NUMBER = gauge(
    "evaluation_number", "number", "fabric", "Number of the evaluation shown; grows by one with each, over restarts.",
    "changes(truerail_evaluation_number[10m])",
)  # fmt: skip
PUBLICATION_AT = gauge(
    "evaluation_timestamp_seconds", "seconds", "fabric", "When the newest answer in the evaluation was requested.",
    "time() - truerail_evaluation_timestamp_seconds",
)  # fmt: skip
PUBLICATION_AGE = gauge(
    "evaluation_age_seconds", "seconds", "fabric", "How old the evaluation was at the scrape.",
    "truerail_evaluation_age_seconds > 300",
)  # fmt: skip
EVALUATION_DURATION = gauge(
    "evaluation_duration_seconds", "seconds", "fabric", "What evaluating took, from snapshot to publication.",
    "max_over_time(truerail_evaluation_duration_seconds[1h])",
)  # fmt: skip

COLLECTOR_INTERVAL = gauge(
    "collector_interval_seconds", "seconds", "fabric collector", "How often the collector is due.",
    "truerail_collector_age_seconds > 3 * truerail_collector_interval_seconds",
)  # fmt: skip
COLLECTOR_SUCCESS = gauge(
    "collector_success", "0 or 1", "fabric collector",
    "Whether any device gave a readable answer in the last round; `_devices_answered` says how many.",
    "truerail_collector_success == 0",
)  # fmt: skip
COLLECTOR_LAST_ROUND = gauge(
    "collector_last_round_timestamp_seconds", "seconds", "fabric collector", "When the last round of it was.",
    "time() - truerail_collector_last_round_timestamp_seconds",
)  # fmt: skip
COLLECTOR_LAST_SUCCESS = gauge(
    "collector_last_success_timestamp_seconds", "seconds", "fabric collector",
    "When the newest readable answer to it was requested.",
    "time() - truerail_collector_last_success_timestamp_seconds > 900",
)  # fmt: skip
COLLECTOR_AGE = gauge(
    "collector_age_seconds", "seconds", "fabric collector", "How old the newest readable answer was at the scrape.",
    "max by (collector) (truerail_collector_age_seconds)",
)  # fmt: skip
COLLECTOR_DURATION = gauge(
    "collector_duration_seconds", "seconds", "fabric collector", "What the last round of it took.",
    "topk(3, truerail_collector_duration_seconds)",
)  # fmt: skip
COLLECTOR_ASKED = gauge(
    "collector_devices_asked", "devices", "fabric collector", "Devices polled in the last round.",
    "sum(truerail_collector_devices_asked)",
)  # fmt: skip
COLLECTOR_ANSWERED = gauge(
    "collector_devices_answered", "devices", "fabric collector", "Devices with a readable answer in the last round.",
    "truerail_collector_devices_answered / truerail_collector_devices_asked",
)  # fmt: skip
COLLECTOR_ROUNDS = counter(
    "collector_rounds_total", "rounds", "fabric collector", "Rounds since the service started.",
    "rate(truerail_collector_rounds_total[5m])",
)  # fmt: skip
COLLECTOR_FAILURES = counter(
    "collector_failures_total", "answers", "fabric collector", "Devices that gave no readable answer, over all rounds.",
    "rate(truerail_collector_failures_total[5m])",
)  # fmt: skip
COLLECTOR_MISSED = counter(
    "collector_missed_total", "rounds", "fabric collector",
    "Times that the scheduler skipped a round because the last one still ran.",
    "increase(truerail_collector_missed_total[1h]) > 0",
)  # fmt: skip

JOURNAL_HEALTH = gauge(
    "journal_health", "0 or 1", "fabric health", "Whether the journal is written: 1 for the current health.",
    'truerail_journal_health{health="failing"} == 1',
)  # fmt: skip
JOURNAL_SINCE = gauge(
    "journal_health_timestamp_seconds", "seconds", "fabric", "When the journal entered this health.",
    "time() - truerail_journal_health_timestamp_seconds",
)  # fmt: skip
JOURNAL_WAITING = gauge(
    "journal_queue_length", "rounds", "fabric", "Rounds in memory that are not written yet.",
    "truerail_journal_queue_length > 10",
)  # fmt: skip
JOURNAL_LOST = counter(
    "journal_lost_rounds_total", "rounds", "fabric", "Rounds dropped because the database took nothing for too long.",
    "increase(truerail_journal_lost_rounds_total[1h]) > 0",
)  # fmt: skip
JOURNAL_WRITTEN = counter(
    "journal_written_rounds_total", "rounds", "fabric", "Rounds written.",
    "rate(truerail_journal_written_rounds_total[5m])",
)  # fmt: skip
BUILD_INFO = gauge("build_info", "1", "version python", "The running version.", "truerail_build_info")

gauge(
    "view_age_seconds", "seconds", "",
    "Time since the process that evaluates last confirmed that the view, which the others show, is the newest.",
    "truerail_view_age_seconds > 60",
)  # fmt: skip
gauge("view_write_seconds", "seconds", "", "What the newest write of the view took.",
      "max_over_time(truerail_view_write_seconds[1h])")  # fmt: skip
gauge("view_written_bytes", "bytes", "", "What changed in the newest write of the view.",
      "max_over_time(truerail_view_written_bytes[1h])")  # fmt: skip

gauge("judge_leader", "0 or 1", "", "Whether this judge leads; the others of a bus stand by.",
      "sum(truerail_judge_leader) != 1")  # fmt: skip
gauge("judge_epoch", "", "", "The epoch of this judge's leadership: the journal refuses the writes of a lower one.",
      "changes(truerail_judge_epoch[1h]) > 2")  # fmt: skip

SERVICE_PREFIX: Final = f"{PREFIX}service_"
"""The service names its own metrics; the known ones are declared here, others are shown under their own names."""
SERVICE_SAYS: Final = "A figure of the service itself."

counter(
    "service_rounds_total", "rounds", "", "Polling rounds of all collectors.",
    "rate(truerail_service_rounds_total[5m])",
)  # fmt: skip
counter(
    "service_evaluations_total", "evaluations", "", "Snapshots evaluated.",
    "rate(truerail_service_evaluations_total[5m])",
)  # fmt: skip
counter(
    "service_evaluations_failed_total", "evaluations", "", "Snapshots that could not be evaluated because of a bug.",
    "increase(truerail_service_evaluations_failed_total[1h]) > 0",
)  # fmt: skip
counter(
    "service_full_parse_differences_total", "answers", "",
    "Answers that counted as unchanged, in which the hourly full parse found other facts: always 0 but for a bug.",
    "increase(truerail_service_full_parse_differences_total[1h]) > 0",
)  # fmt: skip
counter(
    "service_reader_faults_total", "answers", "",
    "Answers that broke the reader, whatever is wrong with them: always 0 but for a bug. The reading has the error.",
    "increase(truerail_service_reader_faults_total[1h]) > 0",
)  # fmt: skip
gauge("service_devices_in_flight", "devices", "", "Devices polled that have not answered yet.",
       "max_over_time(truerail_service_devices_in_flight[10m])")  # fmt: skip
gauge("service_pollers", "processes", "",
      "Processes that poll, or pollers on the bus with those silent for up to an hour; 0 if the service itself polls.",
      "truerail_service_pollers")  # fmt: skip
gauge("service_pollers_running", "processes", "", "Of these, those that run.",
      "truerail_service_pollers_running < truerail_service_pollers")  # fmt: skip
counter("service_poller_restarts_total", "processes", "", "Processes that ended and were started again.",
        "increase(truerail_service_poller_restarts_total[1h]) > 0")  # fmt: skip
counter(
    "service_poller_messages_dropped_total", "messages", "",
    "Messages and answers of pollers that did not count: repeated, too old, refused, of an unknown kind.",
    "increase(truerail_service_poller_messages_dropped_total[1h]) > 0",
)  # fmt: skip
gauge("service_agents_running", "agents", "", "Agents on hosts whose answers are taken in place of SSH.",
      "truerail_service_agents_running")  # fmt: skip
gauge("service_agents_silent", "agents", "",
      "Agents that are silent and have not said that they end: their hosts are asked by SSH.",
      "truerail_service_agents_silent > 0")  # fmt: skip
counter(
    "service_agent_messages_dropped_total", "messages", "",
    "Messages of agents, and answers in them, that did not count: damaged, too large, too many, of unknown commands.",
    "increase(truerail_service_agent_messages_dropped_total[1h]) > 0",
)  # fmt: skip
gauge("service_bus_connected", "0 or 1", "", "Whether the bus of pollers on other machines answers the judge.",
      "truerail_service_bus_connected == 0")  # fmt: skip
counter("service_bus_reconnects_total", "connections", "", "Connections to the bus after the first one.",
        "increase(truerail_service_bus_reconnects_total[1h]) > 3")  # fmt: skip
counter(
    "service_bus_store_losses_total", "losses", "",
    "Times the bus came back without what it had stored: pollers then send all again.",
    "increase(truerail_service_bus_store_losses_total[1d]) > 0",
)  # fmt: skip
counter(
    "service_bus_other_schema_total", "messages", "",
    "Messages of pollers whose version writes what this one cannot read: upgrade the judge first, then the pollers.",
    "increase(truerail_service_bus_other_schema_total[1h]) > 0",
)  # fmt: skip
gauge("service_bus_copies_missing", "servers", "",
      "Servers of a cluster of the bus that run without a current copy of what is stored, or do not run.",
      "max(truerail_service_bus_copies_missing) > 0")  # fmt: skip
gauge("service_bus_zones_without_poller", "zones", "", "Zones of the inventory in which no poller runs.",
      "truerail_service_bus_zones_without_poller > 0")  # fmt: skip
gauge("service_bus_clock_offset_seconds", "seconds", "",
      "By how much the clock of a poller differs from the judge's, of the one that is off the most; its times are "
      "corrected.", "max(truerail_service_bus_clock_offset_seconds) > 2")  # fmt: skip
gauge("service_event_streams", "streams", "", "Readers of the event stream.", "truerail_service_event_streams")
gauge("service_history_failing", "0 or 1", "", "Whether the history store cannot be written, if there is one.",
      "truerail_service_history_failing == 1")  # fmt: skip
counter("service_history_writes_total", "writes", "", "Times that the history store was written.",
        "rate(truerail_service_history_writes_total[1h])")  # fmt: skip
counter(
    "service_history_lost_minutes_total", "minutes", "", "Minutes of counters that the history store lost.",
    "increase(truerail_service_history_lost_minutes_total[1h]) > 0",
)  # fmt: skip
gauge("service_history_waiting_rows", "rows", "", "Rows of counters in memory that are not in the history store yet.",
      "truerail_service_history_waiting_rows")  # fmt: skip
gauge("service_history_unreadable_files", "files", "", "Files of the history store that were torn at the start.",
      "truerail_service_history_unreadable_files > 0")  # fmt: skip
gauge("service_history_bytes", "bytes", "", "Size of the history store.",
      "predict_linear(truerail_service_history_bytes[1d], 7 * 86400)")  # fmt: skip
gauge("service_gate_files", "files", "", "Files that say whether a host is fit for a job.",
      "truerail_service_gate_files")  # fmt: skip
gauge("service_gate_files_failing", "0 or 1", "", "Whether these files cannot be written.",
      "truerail_service_gate_files_failing == 1")  # fmt: skip
gauge(
    "service_tls_certificate_not_after_timestamp_seconds", "seconds", "",
    "When the TLS certificate of the service expires: the first of its chain.",
    "truerail_service_tls_certificate_not_after_timestamp_seconds - time() < 14 * 86400",
)  # fmt: skip
counter(
    "service_notifications_sent_total", "messages", "", "Notifications that receivers have taken.",
    "increase(truerail_service_notifications_sent_total[1d])",
)  # fmt: skip
counter(
    "service_notifications_failed_total", "attempts", "", "Attempts to deliver a notification that failed.",
    "increase(truerail_service_notifications_failed_total[15m]) > 0",
)  # fmt: skip
counter(
    "service_notifications_lost_total", "messages", "",
    "Notifications that a receiver refused for good, or that were dropped because too many waited for it.",
    "increase(truerail_service_notifications_lost_total[1h]) > 0",
)  # fmt: skip
gauge(
    "service_notifications_queue_length", "messages", "", "Notifications that wait for the slowest receiver.",
    "truerail_service_notifications_queue_length > 20",
)  # fmt: skip
counter(
    "service_otlp_exports_total", "exports", "", "Exports of metrics that the OpenTelemetry collector has taken.",
    "rate(truerail_service_otlp_exports_total[15m]) == 0",
)  # fmt: skip
counter(
    "service_otlp_exports_failed_total", "exports", "", "Exports of metrics that failed.",
    "increase(truerail_service_otlp_exports_failed_total[15m]) > 0",
)  # fmt: skip
gauge(
    "service_otlp_export_points", "points", "", "Values in the newest export.", "truerail_service_otlp_export_points",
)  # fmt: skip
gauge(
    "service_otlp_export_duration_seconds", "seconds", "", "What the newest export took.",
    "max_over_time(truerail_service_otlp_export_duration_seconds[1h])",
)  # fmt: skip
