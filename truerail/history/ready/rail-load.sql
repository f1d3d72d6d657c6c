/*
title = "Load by rail over a week"
no_data = "No NIC reported bytes in this time: the load is unknown, not zero."
coverage_of = "NICs report bytes"

[parameters]
since = {}
until = {}
rail = {}
step = {type = "step", meaning = "one row for each of these intervals", default = "1d", example = "6h"}

[columns]
bucket = ["time", "start of the interval"]
rail = ["whole", "rail"]
sent_share = ["number", "bytes sent by the rail's NICs, of what their links can carry", "share"]
received_share = ["number", "the same of bytes received", "share"]
sent_bytes = ["number", "bytes sent by the rail's NICs", "B"]
received_bytes = ["number", "bytes received by the rail's NICs", "B"]
nic_hours = ["number", "hours with data, of all NICs together", "h"]
*/
SELECT time_bucket(to_seconds($step::BIGINT), bucket) AS bucket, rail,
    8 * sum(tx_bytes) / sum(CASE WHEN tx_bytes IS NOT NULL THEN seconds * speed_bits_per_second END) AS sent_share,
    8 * sum(rx_bytes) / sum(CASE WHEN rx_bytes IS NOT NULL THEN seconds * speed_bits_per_second END)
        AS received_share,
    sum(tx_bytes) AS sent_bytes, sum(rx_bytes) AS received_bytes,
    sum(CASE WHEN tx_bytes IS NOT NULL THEN seconds END) / 3600 AS nic_hours
FROM counters_hours
WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND role = 'host' AND rail IS NOT NULL
    AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
GROUP BY 1, 2 ORDER BY 1, 2

-- coverage
SELECT (SELECT count(*) FROM (SELECT DISTINCT device, port FROM counters_hours WHERE role = 'host'
        AND bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND tx_bytes IS NOT NULL
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT))) AS known,
    (SELECT count(*) FROM (SELECT DISTINCT device, port FROM cables WHERE kind = 'host'
        AND began < $until::TIMESTAMPTZ AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT))) AS total
