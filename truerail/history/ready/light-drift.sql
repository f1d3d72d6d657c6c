/*
title = "Drift of light by optics vendor and part"
no_data = "No module reported light over enough days: the drift is unknown. Modules with fewer days are not counted."
coverage_of = "modules reported light on the last day"

[parameters]
since = {default = "30d", example = "30d"}
until = {}
least = {type = "whole", meaning = "modules with light over at least so many days", default = "3", least = 1}

[columns]
vendor = ["text", "vendor of the modules; null if not reported"]
part = ["text", "part number of the modules"]
modules = ["whole", "modules with light over enough days", "modules"]
rx_db_per_30_days = ["number", "change of the light received, the median module; below 0 it falls", "dB/30 d"]
worst_db_per_30_days = ["number", "the same of the module that falls fastest", "dB/30 d"]
worst_port = ["text", "port of this module"]
worst_rx_power_dbm = ["number", "light that it received in the last hour", "dBm"]
tx_db_per_30_days = ["number", "change of the light sent, the median module", "dB/30 d"]
*/
-- a line through all hours of a module; hours are assigned to modules only where a port had several
WITH modules AS (
    SELECT device, port, vendor, part, began, ended, count(*) OVER (PARTITION BY device, port) AS modules
    FROM optics WHERE began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
), lines AS (
    SELECT device, port, 30 * regr_slope(rx_power_dbm_min, epoch(bucket) / 86400) AS rx_change,
        30 * regr_slope(tx_power_dbm_min, epoch(bucket) / 86400) AS tx_change,
        arg_max(rx_power_dbm_min, bucket) AS rx_last, date_diff('hour', min(bucket), max(bucket)) / 24 AS days
    FROM lights WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ
    GROUP BY device, port
), several AS (
    SELECT m.vendor, m.part, m.device, m.port,
        30 * regr_slope(l.rx_power_dbm_min, epoch(l.bucket) / 86400) AS rx_change,
        30 * regr_slope(l.tx_power_dbm_min, epoch(l.bucket) / 86400) AS tx_change,
        arg_max(l.rx_power_dbm_min, l.bucket) AS rx_last,
        date_diff('hour', min(l.bucket), max(l.bucket)) / 24 AS days
    FROM lights l JOIN modules m ON l.device = m.device AND l.port = m.port
    WHERE m.modules > 1 AND l.bucket >= m.began AND (m.ended IS NULL OR l.bucket < m.ended)
        AND l.bucket >= $since::TIMESTAMPTZ AND l.bucket < $until::TIMESTAMPTZ
    GROUP BY m.vendor, m.part, m.device, m.port, m.began
), ports AS (
    SELECT vendor, part, device, port, rx_change, tx_change, rx_last
    FROM lines JOIN modules USING (device, port) WHERE modules = 1 AND days >= $least::BIGINT
    UNION ALL
    SELECT vendor, part, device, port, rx_change, tx_change, rx_last FROM several WHERE days >= $least::BIGINT
)
SELECT vendor, part, count(*) AS modules, median(rx_change) AS rx_db_per_30_days,
    min(rx_change) AS worst_db_per_30_days, arg_min(device || '/' || port, rx_change) AS worst_port,
    arg_min(rx_last, rx_change) AS worst_rx_power_dbm, median(tx_change) AS tx_db_per_30_days
FROM ports WHERE rx_change IS NOT NULL OR tx_change IS NOT NULL
GROUP BY vendor, part ORDER BY rx_db_per_30_days NULLS LAST, vendor, part

-- coverage
SELECT (SELECT count(*) FROM (SELECT DISTINCT device, port FROM lights
        WHERE bucket >= greatest($since::TIMESTAMPTZ, $until::TIMESTAMPTZ - INTERVAL 1 DAY)
            AND bucket < $until::TIMESTAMPTZ AND rx_power_dbm_min IS NOT NULL)) AS known,
    (SELECT count(*) FROM (SELECT DISTINCT device, port FROM optics
        WHERE began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended >= $until::TIMESTAMPTZ))) AS total
