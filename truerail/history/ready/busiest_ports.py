"""`busiest-ports`: the NICs of a rail, and uplinks, that carried most or least."""

from truerail.history.ready.ready_question import (
    RAIL,
    SINCE,
    UNTIL,
    ParameterType,
    ReadyParameter,
    ReadyQuestion,
    number,
    text,
    whole,
)

QUESTION = ReadyQuestion(
    "busiest-ports",
    "Busiest or idlest ports of a rail",
    (
        SINCE,
        UNTIL,
        RAIL,
        ReadyParameter("idlest", ParameterType.FLAG, "the idlest first", "false", example="true"),
    ),
    """
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
    """,
    (
        text("device", "host, or switch with an uplink"),
        text("port", "NIC, or uplink"),
        text("role", "role of the device"),
        whole("rail", "rail; null for an uplink"),
        number("sent_share", "bytes sent, of what the link can carry", "share"),
        number("received_share", "bytes received, of what the link can carry", "share"),
        number("busiest_hour_share", "the higher of both in the busiest hour", "share"),
        number("sent_bytes", "bytes sent", "B"),
        number("received_bytes", "bytes received", "B"),
        whole("hours", "hours with data", "hours"),
    ),
    "No port reported bytes in this time: the load is unknown, not zero. Ports that report none are not listed.",
    """
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
    """,
    "ports report bytes",
)
