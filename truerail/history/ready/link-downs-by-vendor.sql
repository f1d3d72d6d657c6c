/*
title = "NICs with most link downs, by optics vendor"
no_data = "No NIC that reports link downs had so many. NICs that do not report them are not listed."
coverage_of = "NICs report link downs"

[parameters]
since = {}
until = {}
rail = {}
least = {type = "whole", meaning = "at least so many link downs", default = "1", least = 1, example = "100"}

[columns]
vendor = ["text", "vendor of the module; null if not reported"]
part = ["text", "part number of the module"]
device = ["text", "host"]
port = ["text", "NIC"]
rail = ["whole", "rail of the NIC"]
link_downs = ["whole", "times that the link went down with this part", "events"]
vendor_link_downs = ["whole", "the same of all NICs with modules of this vendor", "events"]
vendor_nics = ["whole", "NICs with modules of this vendor in this time; null for unknown vendors", "NICs"]
*/
-- the module that was in the port in the middle of the hour counts
WITH downs AS (
    SELECT device, port, rail, bucket + INTERVAL 30 MINUTE AS middle, link_downs
    FROM counters_hours
    WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND role = 'host' AND link_downs > 0
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
), fitted AS (
    SELECT d.device, d.port, d.rail, d.link_downs,
        CASE WHEN o.ended IS NULL OR o.ended > d.middle THEN o.vendor END AS vendor,
        CASE WHEN o.ended IS NULL OR o.ended > d.middle THEN o.part END AS part
    FROM downs d ASOF LEFT JOIN optics o ON d.device = o.device AND d.port = o.port AND d.middle >= o.began
), nics AS (
    SELECT vendor, part, device, port, any_value(rail) AS rail, sum(link_downs) AS link_downs
    FROM fitted GROUP BY vendor, part, device, port
), vendors AS (
    SELECT vendor, count(DISTINCT (device, port)) AS vendor_nics
    FROM optics
    WHERE began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
        AND device IN (SELECT device FROM devices WHERE role = 'host')
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
    GROUP BY vendor
)
SELECT n.vendor, n.part, n.device, n.port, n.rail, n.link_downs,
    sum(n.link_downs) OVER (PARTITION BY n.vendor) AS vendor_link_downs, v.vendor_nics
FROM nics n LEFT JOIN vendors v ON n.vendor IS NOT DISTINCT FROM v.vendor
QUALIFY n.link_downs >= $least::BIGINT
ORDER BY n.link_downs DESC, n.device, n.port

-- coverage
SELECT (SELECT count(*) FROM (SELECT DISTINCT device, port FROM counters_hours WHERE role = 'host'
        AND bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND link_downs IS NOT NULL
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT))) AS known,
    (SELECT count(*) FROM (SELECT DISTINCT device, port FROM cables WHERE kind = 'host'
        AND began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT))) AS total
