"""truerail itself: does it know what is now, do its collectors get answers, does it keep what it evaluates?"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import MISSING, RIGHT, UNKNOWN, WRONG, coloured, none_is_right, rising, said
from dashboards.grafana.panels import Column, history, lines, stat, table
from dashboards.grafana.queries import FABRIC, OLD, instant, over_time, rows

_ONE: Final = f"{{{FABRIC}}}"
_HERE: Final = f"and on(job, instance) truerail_evaluation_number{_ONE}"
"""Figures of the service carry no fabric: those of the target that reports it."""
_SCRAPED: Final = f"and on(job) truerail_evaluation_number{_ONE}"
"""All targets of the job: a service is scraped as one target, or as one for each pod."""
_JOURNAL: Final = {0: ("failing", WRONG), 1: ("keeping", RIGHT), 2: ("off", UNKNOWN)}


def board() -> Board:
    """The board."""
    return Board(
        "service",
        "truerail itself",
        "Whether what the other boards show is of now: how old the evaluation is, which collectors get answers, which "
        "devices are silent, and whether the journal keeps what is evaluated.",
        (),
        (
            Row("Is what it says of now?", 4, _now()),
            Row("Does it keep up?", 8, (_ages(), _durations(), _rounds())),
            Row("Do the devices answer?", 9, (_collectors(), _silent())),
            Row("Which collectors fail?", 8, (_answered(), _failures(), _overruns())),
            Row("What could not be evaluated?", 8, (_not_evaluated(), _plan())),
            Row("Is it remembered?", 7, (_journal(), _waiting(), _written())),
            Row("What does it cost?", 7, _cost()),
        ),
    )


def _now() -> tuple[Panel, ...]:
    read = f"sum by (fabric) (truerail_devices{_ONE}) - sum by (fabric) (truerail_devices_read{_ONE})"
    states = " or ".join(
        f'(truerail_journal_health{{{FABRIC}, health="{word}"}} == 1) * 0 + {value}'
        for value, (word, _) in _JOURNAL.items()
    )
    lost = f"sum by (fabric) (increase(truerail_journal_lost_rounds_total{_ONE}[$__range]))"
    failed = f"sum(increase(truerail_service_evaluations_failed_total[$__range]) {_HERE})"
    return (
        stat("Age of the evaluation", f"How old the newest answer is that the evaluation rests on. Beyond {OLD} s "
             "nothing that the boards show is of now.", instant(f"truerail_evaluation_age_seconds{_ONE}"),
             unit="s", steps=rising(300, OLD), width=4),
        stat("Time to evaluate", "What the last evaluation took, from answers to publication.",
             instant(f"truerail_evaluation_duration_seconds{_ONE}"), unit="s", steps=rising(10, 60), width=4),
        stat("Silent devices", "Planned devices that gave no readable answer. What only they could say is unknown.",
             instant(read), unit="short", steps=none_is_right(MISSING), width=4),
        stat("Journal", "Whether what is evaluated is also kept. Off: no journal is configured, and a restart forgets.",
             instant(states), unit="short", mappings=said(_JOURNAL), width=4),
        stat("Rounds lost", "Rounds dropped in the time shown, because the database took nothing for too long.",
             instant(lost), unit="short", steps=none_is_right(WRONG), decimals=0, width=4),
        stat("Evaluations failed", "Snapshots of the time shown that could not be evaluated because of a bug: the "
        "log says "
             "which. What was evaluated before stays on show.",
             instant(failed), unit="short", steps=none_is_right(WRONG), decimals=0, width=4),
    )  # fmt: skip


def _ages() -> Panel:
    return lines(
        "Age of what is known",
        "The evaluation, and the newest answer to each collector. A saw of the height of its interval is normal; a "
        "line "
        "that only climbs is a collector that no device answers any more.",
        over_time(f"truerail_evaluation_age_seconds{_ONE}", "evaluation"),
        over_time(f"truerail_collector_age_seconds{_ONE}", "{{collector}}"),
        unit="s", low=0, width=8,
    )  # fmt: skip


def _durations() -> Panel:
    return lines(
        "Duration of evaluating and of rounds",
        "What evaluating took, and the last round of each collector. Rounds longer than their interval are skipped.",
        over_time(f"truerail_evaluation_duration_seconds{_ONE}", "evaluating"),
        over_time(f"truerail_collector_duration_seconds{_ONE}", "{{collector}}"),
        unit="s", low=0, width=8,
    )  # fmt: skip


def _rounds() -> Panel:
    return lines(
        "Rounds and evaluations",
        "Per second: rounds of all collectors, and evaluations. Evaluations that stop while rounds go on are a "
        "fault of "
        "truerail, not of the fabric.",
        over_time(f"sum(rate(truerail_service_rounds_total[$__rate_interval]) {_HERE})", "rounds"),
        over_time(f"sum(rate(truerail_service_evaluations_total[$__rate_interval]) {_HERE})", "evaluations"),
        unit="ops", low=0, width=8,
    )  # fmt: skip


def _collectors() -> Panel:
    figures = ("success", "age_seconds", "interval_seconds", "duration_seconds", "devices_asked", "devices_answered")
    worked = said({0: ("no answer", WRONG), 1: ("answered", RIGHT)})
    return table(
        "Collectors",
        "Each collector: whether any device answered in the last round, how old the newest answer is, how often it is "
        "due, what the round took, how many were polled and answered. Fewer answers than devices polled: see  "
        "who is silent.",
        *(rows(f"sum by (collector) (truerail_collector_{figure}{_ONE})") for figure in figures),
        columns=(Column("collector"), Column("Value #A", "last round", mappings=worked),
                 Column("Value #B", "age", "s"), Column("Value #C", "every", "s"), Column("Value #D", "took", "s"),
                 Column("Value #E", "polled"), Column("Value #F", "answered")),
        unit="short", width=14, worst="age",
    )  # fmt: skip


def _silent() -> Panel:
    return lines(
        "Silent devices by role",
        "Planned devices that gave no readable answer. Many at once are the management network, truerail's key or its "
        "user; one alone is that device.",
        over_time(f"sum by (role) (truerail_devices{_ONE}) - sum by (role) (truerail_devices_read{_ONE})", "{{role}}"),
        unit="short", low=0, width=10,
    )  # fmt: skip


def _answered() -> Panel:
    return lines(
        "Share of devices that answer",
        "Of the devices polled in the last round of each collector, the share that gave a readable answer.",
        over_time(f"truerail_collector_devices_answered{_ONE} / (truerail_collector_devices_asked{_ONE} > 0)",
                  "{{collector}}"),
        unit="percentunit", low=0, high=1, width=8,
    )  # fmt: skip


def _failures() -> Panel:
    return lines(
        "Answers that failed",
        "Devices per second that gave no readable answer, by collector.",
        over_time(f"rate(truerail_collector_failures_total{_ONE}[$__rate_interval])", "{{collector}}"),
        unit="ops", low=0, width=8,
    )  # fmt: skip


def _overruns() -> Panel:
    return lines(
        "Rounds skipped",
        "Rounds that did not begin because the last one still ran, by collector. Raise `schedule.every`, or see which "
        "devices hang.",
        over_time(f"increase(truerail_collector_missed_total{_ONE}[$__rate_interval])", "{{collector}}"),
        unit="short", low=0, width=8,
    )  # fmt: skip


def _not_evaluated() -> Panel:
    expr = f'truerail_rule_status{{{FABRIC}, status=~"unknown|error"}} == 1'
    return table(
        "Rules without a verdict",
        "Rules that could not evaluate: unknown where what they need was not reported, error where they failed. Their "
        "findings are not 0: they are not known. `truerail rules explain RULE` says what a rule needs.",
        rows(f"({expr}) * on(fabric, rule) group_left(name) truerail_rule_info{_ONE}"),
        columns=(Column("rule", width=90), Column("name"),
                 Column("status", mappings=coloured(("unknown", "error")))),
        unit="short", width=14, empty="every rule could evaluate",
    )  # fmt: skip


def _plan() -> Panel:
    return table(
        "Plan in force and version",
        "The plan that is evaluated by, and what runs. An inferred plan was read off the fabric itself: it "
        "shows what does not fit, not what was built by mistake everywhere.",
        rows(f"truerail_plan_info{_ONE} * on(job, instance) group_left(version, python) truerail_build_info"),
        columns=(Column("name", "plan"), Column("digest"), Column("inferred"), Column("version", "truerail"),
                 Column("python", "Python")),
        unit="short", width=10,
    )  # fmt: skip


def _journal() -> Panel:
    states = f'truerail_journal_health{{{FABRIC}, health="keeping"}}'
    kept = said({0: ("not keeping", WRONG), 1: ("keeping", RIGHT)})
    return history(
        "Journal over time",
        "Whether what was evaluated was also kept. What could not be kept waits in memory, and is written when the "
        "database is back.",
        over_time(states, "journal"), unit="short", mappings=kept, width=8,
    )  # fmt: skip


def _waiting() -> Panel:
    return lines(
        "Rounds that wait to be written",
        "Rounds in memory that are not written yet. A few are normal; a climb is a database that is slow or away.",
        over_time(f"truerail_journal_queue_length{_ONE}", "waiting"),
        unit="short", low=0, width=8,
    )  # fmt: skip


def _written() -> Panel:
    return lines(
        "Rounds written and lost",
        "Per second. Rounds are lost only after `journal.max_queued_rounds` of them wait.",
        over_time(f"rate(truerail_journal_written_rounds_total{_ONE}[$__rate_interval])", "written"),
        over_time(f"rate(truerail_journal_lost_rounds_total{_ONE}[$__rate_interval])", "lost"),
        unit="ops", low=0, width=8, colours={"lost": WRONG},
    )  # fmt: skip


def _cost() -> tuple[Panel, ...]:
    return (
        lines("Series in a scrape", "Series that Prometheus takes from each of truerail's targets at a time.",
              over_time(f"scrape_samples_scraped {_SCRAPED}", "{{instance}}"), unit="short", low=0, width=8),
        lines("Time to scrape", "What a scrape of each target takes. truerail renders the page once for an evaluation, "
              "so this is mostly the network.",
              over_time(f"scrape_duration_seconds {_SCRAPED}", "{{instance}}"), unit="s", low=0, width=8),
        lines("Readers and devices that are waited for", "Browsers on the event stream, and devices that were "
              "polled and have not answered yet.",
              over_time(f"truerail_service_event_streams {_HERE}", "event streams"),
              over_time(f"truerail_service_devices_in_flight {_HERE}", "devices waited for"),
              unit="short", low=0, width=8),
    )  # fmt: skip
