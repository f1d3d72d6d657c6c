/*
title = "Drift of the bit error rate before FEC"
no_data = "No port reported such a rate over enough days: it is unknown. Rates of zero are left out."
coverage_of = "ports with optics reported this rate on the last day"

[parameters]
since = {default = "30d", example = "30d"}
until = {}
device = {}
rail = {}
least = {type = "whole", meaning = "ports with rates over at least so many days", default = "3", least = 1}

[columns]
device = ["text", "host or switch"]
port = ["text", "port"]
rail = ["whole", "rail; null for an uplink"]
vendor = ["text", "vendor of the module that is in the port at the end"]
part = ["text", "part number of this module"]
decades_per_30_days = ["number", "growth of the rate: 1 is ten times as many errors after 30 days", "decades/30 d"]
ber_first_hour = ["number", "highest rate of the first hour", "share"]
ber_last_hour = ["number", "highest rate of the last hour", "share"]
days = ["number", "time from the first to the last hour", "d"]
*/
-- decades: the rate is compared by its logarithm; a rate of zero has none
WITH ports AS (
    SELECT device, port, any_value(rail) AS rail,
        30 * regr_slope(log10(pre_fec_ber_max), epoch(bucket) / 86400) AS change,
        arg_min(pre_fec_ber_max, bucket) AS first_ber, arg_max(pre_fec_ber_max, bucket) AS last_ber,
        date_diff('hour', min(bucket), max(bucket)) / 24 AS days
    FROM lights
    WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND pre_fec_ber_max > 0
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
    GROUP BY device, port HAVING date_diff('hour', min(bucket), max(bucket)) / 24 >= $least::BIGINT
), modules AS (
    SELECT device, port, arg_max(vendor, began) AS vendor, arg_max(part, began) AS part
    FROM optics WHERE began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended >= $until::TIMESTAMPTZ)
    GROUP BY device, port
)
SELECT p.device, p.port, p.rail, m.vendor, m.part, p.change AS decades_per_30_days,
    p.first_ber AS ber_first_hour, p.last_ber AS ber_last_hour, p.days
FROM ports p LEFT JOIN modules m USING (device, port)
ORDER BY p.change DESC NULLS LAST, p.device, p.port

-- coverage
SELECT count(*) FILTER (known) AS known, count(*) AS total FROM (
    SELECT device, port, bool_or(pre_fec_ber_max IS NOT NULL) AS known
    FROM lights
    WHERE bucket >= greatest($since::TIMESTAMPTZ, $until::TIMESTAMPTZ - INTERVAL 1 DAY)
        AND bucket < $until::TIMESTAMPTZ
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
    GROUP BY device, port)
