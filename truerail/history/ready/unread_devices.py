"""`unread-devices`: the devices that were not read for the longest time."""

from truerail.history.ready.ready_question import DEVICE, SINCE, UNTIL, ReadyQuestion, number, text, time, whole
from truerail.history.tables import Field, Type

QUESTION = ReadyQuestion(
    "unread-devices",
    "Coverage: devices unread for the longest time",
    (SINCE, UNTIL, DEVICE),
    """
    WITH spans AS (
        SELECT *, greatest(began, $since::TIMESTAMPTZ) AS first,
            least(coalesce(ended, $until::TIMESTAMPTZ), $until::TIMESTAMPTZ) AS last
        FROM devices
        WHERE began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
            AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
    )
    SELECT device, any_value(role) AS role, arg_max(rack, began) AS rack,
        sum(date_diff('second', first, last)) FILTER (NOT read) AS unread_seconds,
        sum(date_diff('second', first, last)) FILTER (NOT read) / nullif(sum(date_diff('second', first, last)), 0)
            AS unread_share,
        count(*) FILTER (NOT read) AS episodes, arg_max(NOT read, began) AS unread_at_end,
        max(last) FILTER (NOT read) AS last_unread
    FROM spans GROUP BY device HAVING count(*) FILTER (NOT read) > 0
    ORDER BY unread_seconds DESC, device
    """,
    (
        text("device", "device, named as in the plan"),
        text("role", "role of the device"),
        text("rack", "rack of the device; null where the plan has none"),
        number("unread_seconds", "time in which it answered no collector", "s"),
        number("unread_share", "the same, of the time that the store covers", "share"),
        whole("episodes", "rows of the store in which it was unread", "episodes"),
        Field("unread_at_end", Type.FLAG, "whether it is unread at the end of the time"),
        time("last_unread", "end of the last time that it was unread"),
    ),
    "Every device in the store was read all the time. Devices that are not planned are not in the store.",
)
