/*
title = "Cables wrong for the longest time"
no_data = "No cable was seen in a wrong place in this time. A cable without data is unknown, and not listed."
coverage_of = "cables had a known state"

[parameters]
since = {}
until = {}
device = {}
rail = {}

[columns]
device = ["text", "device of the cable's nearer end"]
port = ["text", "port of the nearer end"]
rail = ["whole", "rail of the cable; null for an uplink"]
planned_end = ["text", "planned other end"]
actual_end = ["text", "the last wrong end"]
wrong_seconds = ["number", "time in a wrong place", "s"]
missing_seconds = ["number", "time without a link", "s"]
unknown_seconds = ["number", "time without data", "s"]
episodes = ["whole", "times that a wrong end was found", "episodes"]
state_at_end = ["text", "state at the end of the time: right, wrong, missing or unknown"]
*/
WITH spans AS (
    SELECT *, greatest(began, $since::TIMESTAMPTZ) AS first,
        least(coalesce(ended, $until::TIMESTAMPTZ), $until::TIMESTAMPTZ) AS last
    FROM cables
    WHERE began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR OR planned_device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
)
SELECT device, port, any_value(rail) AS rail, arg_max(planned_device || '/' || planned_port, began) AS planned_end,
    arg_max(actual_device || coalesce('/' || actual_port, ''), began) FILTER (state = 'wrong') AS actual_end,
    sum(date_diff('second', first, last)) FILTER (state = 'wrong') AS wrong_seconds,
    coalesce(sum(date_diff('second', first, last)) FILTER (state = 'missing'), 0) AS missing_seconds,
    coalesce(sum(date_diff('second', first, last)) FILTER (state = 'unknown'), 0) AS unknown_seconds,
    count(*) FILTER (state = 'wrong') AS episodes,
    arg_max(state, began) AS state_at_end
FROM spans GROUP BY device, port HAVING count(*) FILTER (state = 'wrong') > 0
ORDER BY wrong_seconds DESC, device, port

-- coverage
SELECT count(*) FILTER (sure) AS known, count(*) AS total FROM (
    SELECT device, port, bool_or(state <> 'unknown') AS sure FROM cables
    WHERE began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR OR planned_device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
    GROUP BY device, port)
