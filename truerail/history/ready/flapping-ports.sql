/*
title = "Top flapping links"
no_data = "No port that reports link downs had so many. Ports that do not report them are not listed."
coverage_of = "ports report link downs"

[parameters]
since = {}
until = {}
device = {}
rail = {}
least = {type = "whole", meaning = "at least so many link downs", default = "1", least = 1, example = "10"}

[columns]
device = ["text", "host or switch"]
port = ["text", "port; both ends of a link are listed, each with its own count"]
role = ["text", "role of the device"]
rail = ["whole", "rail of the planned cable; null for an uplink"]
other_end = ["text", "planned other end of the cable"]
link_downs = ["whole", "times that the link went down", "events"]
hours_with_downs = ["whole", "hours in which it went down", "hours"]
last_hour = ["time", "start of the last of these hours"]
*/
WITH ports AS (
    SELECT device, port, any_value(role) AS role, any_value(rail) AS rail, sum(link_downs) AS link_downs,
        count(*) AS hours_with_downs, max(bucket) AS last_hour
    FROM counters_hours
    WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND link_downs > 0
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
    GROUP BY device, port HAVING sum(link_downs) >= $least::BIGINT
), ends AS (
    SELECT device, port, any_value(planned_device || '/' || planned_port) AS other_end FROM cables GROUP BY ALL
    UNION ALL
    SELECT planned_device, planned_port, any_value(device || '/' || port) FROM cables
    WHERE planned_device IS NOT NULL GROUP BY ALL
)
SELECT p.device, p.port, p.role, p.rail, e.other_end, p.link_downs, p.hours_with_downs, p.last_hour
FROM ports p LEFT JOIN ends e USING (device, port)
ORDER BY p.link_downs DESC, p.device, p.port

-- coverage
SELECT (SELECT count(*) FROM (SELECT DISTINCT device, port FROM counters_hours
        WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND link_downs IS NOT NULL
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT))) AS known,
    (SELECT count(*) FROM (
        SELECT device, port FROM cables WHERE began < $until::TIMESTAMPTZ
            AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
            AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
            AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
        UNION
        SELECT planned_device, planned_port FROM cables WHERE began < $until::TIMESTAMPTZ
            AND (ended IS NULL OR ended > $since::TIMESTAMPTZ) AND planned_device IS NOT NULL
            AND ($device::VARCHAR IS NULL OR planned_device = $device::VARCHAR)
            AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT))) AS total
