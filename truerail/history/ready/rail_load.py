"""`rail-load`: how much each rail carried, day by day or hour by hour."""

from truerail.history.ready.ready_question import (
    RAIL,
    SINCE,
    UNTIL,
    ParameterType,
    ReadyParameter,
    ReadyQuestion,
    nics_reporting,
    number,
    time,
    whole,
)

QUESTION = ReadyQuestion(
    "rail-load",
    "Load by rail over a week",
    (
        SINCE,
        UNTIL,
        RAIL,
        ReadyParameter("step", ParameterType.STEP, "one row for each of these intervals", "1d", example="6h"),
    ),
    """
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
    """,
    (
        time("bucket", "start of the interval"),
        whole("rail", "rail"),
        number("sent_share", "bytes sent by the rail's NICs, of what their links can carry", "share"),
        number("received_share", "the same of bytes received", "share"),
        number("sent_bytes", "bytes sent by the rail's NICs", "B"),
        number("received_bytes", "bytes received by the rail's NICs", "B"),
        number("nic_hours", "hours with data, of all NICs together", "h"),
    ),
    "No NIC reported bytes in this time: the load is unknown, not zero.",
    nics_reporting("tx_bytes"),
    "NICs report bytes",
)
