/*
title = "Cables moved more than once"
no_data = "No cable was seen to move so often. While a port has no link or no LLDP, its other end is unknown."

[parameters]
since = {default = "30d", example = "30d"}
until = {}
device = {}
rail = {}
least = {type = "whole", meaning = "at least so many moves", default = "2", least = 1, example = "2"}

[columns]
device = ["text", "device of the cable's nearer end"]
port = ["text", "port of the nearer end"]
rail = ["whole", "rail of the cable; null for an uplink"]
planned_end = ["text", "planned other end"]
moves = ["whole", "times that another end was found", "moves"]
actual_ends = ["texts", "the other ends that were found, in the order of time"]
last_move = ["time", "first round with the last of them"]
*/
-- a port whose other end is unknown, or without a link, for a while has not moved by that
WITH known AS (
    SELECT device, port, rail, planned_device || '/' || planned_port AS planned_end,
        actual_device || coalesce('/' || actual_port, '') AS actual_end, began
    FROM cables
    WHERE actual_device IS NOT NULL AND began < $until::TIMESTAMPTZ
        AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR OR planned_device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
), ends AS (
    SELECT *, lag(actual_end) OVER (PARTITION BY device, port ORDER BY began) AS before FROM known
), changes AS (
    SELECT *, before IS NOT NULL AND before <> actual_end AND began >= $since::TIMESTAMPTZ AS moved
    FROM ends WHERE before IS NULL OR before <> actual_end
)
SELECT device, port, any_value(rail) AS rail, arg_max(planned_end, began) AS planned_end,
    count(*) FILTER (moved) AS moves, list(actual_end ORDER BY began) AS actual_ends,
    max(began) FILTER (moved) AS last_move
FROM changes GROUP BY device, port HAVING count(*) FILTER (moved) >= $least::BIGINT
ORDER BY moves DESC, last_move DESC, device, port
