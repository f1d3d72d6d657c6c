/*
title = "Load of one rail between two times, as when a job ran"
no_data = "No NIC of the rail reported bytes between these times: the load is unknown, not zero."
coverage_of = "NICs of the rail report bytes"

[parameters]
since = {meaning = "from this time on: when the job began", default = "2h", example = "2h"}
until = {}
rail = {needed = true}
step = {type = "step", meaning = "one row for each of these intervals", default = "1m", example = "5m"}

[columns]
bucket = ["time", "start of the interval"]
sent_share = ["number", "bytes sent by the rail's NICs, of what their links can carry", "share"]
received_share = ["number", "the same of bytes received", "share"]
busiest_share = ["number", "bytes sent by the busiest NIC, of what its link can carry", "share"]
busiest = ["text", "the busiest NIC"]
nics = ["whole", "NICs with data in this interval", "NICs"]
seconds = ["number", "time of the interval that is covered by data; 3600 where only hours are stored", "s"]
pause_received_seconds = ["number", "time that leaves paused the NICs, of all NICs together", "s"]
link_downs = ["whole", "times that links of these NICs went down", "events"]
*/
-- hours stand in where minutes are no longer stored
WITH minutes AS (
    SELECT * FROM counters_minutes
    WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND rail = $rail::BIGINT AND role = 'host'
), counted AS (
    SELECT * FROM minutes
    UNION ALL
    SELECT * FROM counters_hours
    WHERE bucket >= date_trunc('hour', $since::TIMESTAMPTZ) AND bucket < $until::TIMESTAMPTZ
        AND rail = $rail::BIGINT AND role = 'host'
        AND bucket NOT IN (SELECT DISTINCT date_trunc('hour', bucket) FROM minutes)
), ports AS (
    SELECT time_bucket(to_seconds($step::BIGINT), bucket) AS bucket, device, port,
        sum(CASE WHEN tx_bytes IS NOT NULL THEN seconds END) AS seconds,
        sum(tx_bytes) AS tx_bytes, sum(rx_bytes) AS rx_bytes,
        sum(CASE WHEN tx_bytes IS NOT NULL THEN seconds * speed_bits_per_second END) / 8 AS could_send,
        sum(CASE WHEN rx_bytes IS NOT NULL THEN seconds * speed_bits_per_second END) / 8 AS could_receive,
        sum(pause_received_seconds) AS pause_received_seconds, sum(link_downs) AS link_downs
    FROM counted GROUP BY 1, 2, 3
)
SELECT bucket, sum(tx_bytes) / sum(could_send) AS sent_share, sum(rx_bytes) / sum(could_receive) AS received_share,
    max(tx_bytes / could_send) AS busiest_share, arg_max(device || '/' || port, tx_bytes / could_send) AS busiest,
    count(tx_bytes) AS nics, max(seconds) AS seconds,
    sum(pause_received_seconds) AS pause_received_seconds, sum(link_downs) AS link_downs
FROM ports GROUP BY 1 ORDER BY 1

-- coverage
SELECT (SELECT count(*) FROM (SELECT DISTINCT device, port FROM counters_hours WHERE role = 'host'
        AND bucket >= date_trunc('hour', $since::TIMESTAMPTZ) AND bucket < $until::TIMESTAMPTZ
        AND tx_bytes IS NOT NULL AND rail = $rail::BIGINT
        UNION SELECT DISTINCT device, port FROM counters_minutes WHERE role = 'host'
        AND bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND tx_bytes IS NOT NULL
        AND rail = $rail::BIGINT)) AS known,
    (SELECT count(*) FROM (SELECT DISTINCT device, port FROM cables WHERE kind = 'host' AND rail = $rail::BIGINT
        AND began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ))) AS total
