"""`causes-by-kind`: how many causes of each kind appeared in a week, and how long their repair took."""

from truerail.history.ready.ready_question import SINCE, UNTIL, ReadyParameter, ReadyQuestion, number, text, time, whole

QUESTION = ReadyQuestion(
    "causes-by-kind",
    "Causes by kind and week, and the mean time to repair",
    (ReadyParameter(SINCE.name, SINCE.type, SINCE.meaning, "30d", example="90d"), UNTIL),
    """
    SELECT date_trunc('week', began) AS week, kind, count(*) AS causes,
        count(*) FILTER (ended < $until::TIMESTAMPTZ) AS repaired,
        count(*) FILTER (ended IS NULL OR ended >= $until::TIMESTAMPTZ) AS open,
        avg(date_diff('second', began, ended)) FILTER (ended < $until::TIMESTAMPTZ) AS mean_repair_seconds,
        median(date_diff('second', began, ended)) FILTER (ended < $until::TIMESTAMPTZ) AS median_repair_seconds,
        max(date_diff('second', began, least(coalesce(ended, $until::TIMESTAMPTZ), $until::TIMESTAMPTZ)))
            AS longest_seconds,
        sum(moves) AS moves, max(affected_gpus) AS most_affected_gpus
    FROM causes
    WHERE began >= $since::TIMESTAMPTZ AND began < $until::TIMESTAMPTZ
    GROUP BY 1, 2 ORDER BY 1, causes DESC, kind
    """,
    (
        time("week", "Monday of the week in which they appeared"),
        text("kind", "kind of cause"),
        whole("causes", "causes that appeared in that week", "causes"),
        whole("repaired", "those that are resolved", "causes"),
        whole("open", "those that are still open", "causes"),
        number("mean_repair_seconds", "mean time from appearance to resolution, of those that are resolved", "s"),
        number("median_repair_seconds", "the same, the median", "s"),
        number("longest_seconds", "the longest time, open ones included", "s"),
        whole("moves", "cables to move for all of them", "cables"),
        whole("most_affected_gpus", "GPUs affected by the largest of them; null if not recorded", "GPUs"),
    ),
    "No cause appeared in this time, as far as devices were read: see unread-devices.",
)
