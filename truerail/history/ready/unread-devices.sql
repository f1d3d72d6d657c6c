/*
title = "Coverage: devices unread for the longest time"
no_data = "Every device in the store was read all the time. Devices that are not planned are not in the store."

[parameters]
since = {}
until = {}
device = {}

[columns]
device = ["text", "device, named as in the plan"]
role = ["text", "role of the device"]
rack = ["text", "rack of the device; null where the plan has none"]
unread_seconds = ["number", "time in which it answered no collector", "s"]
unread_share = ["number", "the same, of the time that the store covers", "share"]
episodes = ["whole", "rows of the store in which it was unread", "episodes"]
unread_at_end = ["flag", "whether it is unread at the end of the time"]
last_unread = ["time", "end of the last time that it was unread"]
*/
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
