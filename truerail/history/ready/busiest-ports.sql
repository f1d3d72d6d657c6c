/*
title = "Busiest or idlest ports of a rail"
no_data = "No port reported bytes in this time: the load is unknown, not zero. Ports that report none are not listed."
coverage_of = "ports report bytes"

[parameters]
since = {}
until = {}
rail = {}
idlest = {type = "flag", meaning = "the idlest first", default = "false", example = "true"}

[columns]
device = ["text", "host, or switch with an uplink"]
port = ["text", "NIC, or uplink"]
role = ["text", "role of the device"]
rail = ["whole", "rail; null for an uplink"]
sent_share = ["number", "bytes sent, of what the link can carry", "share"]
received_share = ["number", "bytes received, of what the link can carry", "share"]
busiest_hour_share = ["number", "the higher of both in the busiest hour", "share"]
sent_bytes = ["number", "bytes sent", "B"]
received_bytes = ["number", "bytes received", "B"]
hours = ["whole", "hours with data", "hours"]
*/
WITH ports AS (
    SELECT device, port, any_value(role) AS role, any_value(rail) AS rail,
        sum(tx_bytes) AS sent_bytes, sum(rx_bytes) AS received_bytes,
        sum(CASE WHEN tx_bytes IS NOT NULL THEN seconds * speed_bits_per_second END) / 8 AS could_send,
        sum(CASE WHEN rx_bytes IS NOT NULL THEN seconds * speed_bits_per_second END) / 8 AS could_receive,
        max(8 * greatest(tx_bytes, rx_bytes) / nullif(seconds * speed_bits_per_second, 0)) AS busiest_hour_share,
        count(tx_bytes) AS hours
    FROM counters_hours
    WHERE bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ AND (role = 'host' OR rail IS NULL)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
    GROUP BY device, port
)
SELECT device, port, role, rail, sent_bytes / could_send AS sent_share,
    received_bytes / could_receive AS received_share, busiest_hour_share, sent_bytes, received_bytes, hours
FROM ports WHERE sent_bytes IS NOT NULL OR received_bytes IS NOT NULL
ORDER BY CASE WHEN $idlest::BOOLEAN THEN coalesce(sent_bytes / could_send, received_bytes / could_receive) END,
    coalesce(sent_bytes / could_send, received_bytes / could_receive) DESC, device, port

-- coverage
SELECT (SELECT count(*) FROM (SELECT DISTINCT device, port FROM counters_hours WHERE (role = 'host' OR rail IS NULL)
        AND bucket >= $since::TIMESTAMPTZ AND bucket < $until::TIMESTAMPTZ
        AND (tx_bytes IS NOT NULL OR rx_bytes IS NOT NULL)
        AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT))) AS known,
    (SELECT count(*) FROM (
        SELECT device, port FROM cables WHERE began < $until::TIMESTAMPTZ
            AND (ended IS NULL OR ended > $since::TIMESTAMPTZ)
            AND ($rail::BIGINT IS NULL OR rail = $rail::BIGINT)
        UNION
        SELECT planned_device, planned_port FROM cables WHERE kind = 'uplink' AND began < $until::TIMESTAMPTZ
            AND (ended IS NULL OR ended > $since::TIMESTAMPTZ) AND $rail::BIGINT IS NULL)) AS total
