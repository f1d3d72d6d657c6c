/*
title = "Pause by host over time: slow receivers"
no_data = "No host and no leaf reported how long ports were paused: it is unknown. Many devices count frames only."
coverage_of = "hosts report how long they paused their leaves"

[parameters]
since = {}
until = {}
device = {}
rail = {}
step = {type = "step", meaning = "one row for each of these intervals", default = "1d", example = "1h"}

[columns]
device = ["text", "host; the one that paused most comes first"]
bucket = ["time", "start of the interval"]
pause_sent_seconds = ["number", "time that the host paused its leaves, of all its NICs, as it counted", "s"]
pause_sent_share = ["number", "the same, of the time with data", "share"]
leaf_pause_received_seconds = ["number", "the same as the leaves counted; null where they do not", "s"]
leaf_pause_received_share = ["number", "the same, of the time with data", "share"]
pause_received_seconds = ["number", "time that the leaves paused the host: it waits for other receivers", "s"]
*/
-- both ends count the same pauses; what the leaf counts is the host's only where the cable is right
WITH own AS (
    SELECT device, time_bucket(to_seconds($step::BIGINT), bucket) AS bucket,
        sum(pause_sent_seconds) AS sent, sum(CASE WHEN pause_sent_seconds IS NOT NULL THEN seconds END) AS sent_of,
        sum(pause_received_seconds) AS received
    FROM counters_hours
    WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND role = 'host'
        AND (pause_sent_seconds IS NOT NULL OR pause_received_seconds IS NOT NULL)
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
    GROUP BY 1, 2
), sure AS (
    SELECT device, planned_device, planned_port FROM cables
    WHERE kind = 'host' AND began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
    GROUP BY ALL HAVING bool_and(state = 'right')
), leaf AS (
    SELECT s.device, time_bucket(to_seconds($step::BIGINT), c.bucket) AS bucket,
        sum(c.pause_received_seconds) AS received, sum(c.seconds) AS received_of
    FROM counters_hours c JOIN sure s ON c.device = s.planned_device AND c.port = s.planned_port
    WHERE c.bucket >= $since::TIMESTAMPTZ AND c.bucket < $until::TIMESTAMPTZ AND c.role <> 'host'
        AND c.pause_received_seconds IS NOT NULL AND ($rail::BIGINT IS NULL OR c.rail = $rail::BIGINT)
    GROUP BY 1, 2
), both_ends AS (
    SELECT device, bucket, o.sent AS pause_sent_seconds, o.sent / nullif(o.sent_of, 0) AS pause_sent_share,
        l.received AS leaf_pause_received_seconds,
        l.received / nullif(l.received_of, 0) AS leaf_pause_received_share,
        o.received AS pause_received_seconds
    FROM own o FULL JOIN leaf l USING (device, bucket)
)
SELECT * FROM both_ends
ORDER BY sum(greatest(pause_sent_seconds, leaf_pause_received_seconds)) OVER (PARTITION BY device) DESC NULLS LAST,
    device, bucket

-- coverage
SELECT (SELECT count(DISTINCT device) FROM counters_hours WHERE role = 'host'
        AND bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND pause_sent_seconds IS NOT NULL
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)) AS known,
    (SELECT count(DISTINCT device) FROM cables WHERE kind = 'host' AND began < $until::TIMESTAMPTZ
        AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
        AND ($device::VARCHAR IS NULL OR device = $device::VARCHAR)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)) AS total
