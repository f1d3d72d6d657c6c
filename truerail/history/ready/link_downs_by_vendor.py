"""`link-downs-by-vendor`: the NICs whose links went down most often, by the vendor of their optics."""

from truerail.history.ready.ready_question import (
    RAIL,
    SINCE,
    UNTIL,
    ParameterType,
    ReadyParameter,
    ReadyQuestion,
    nics_reporting,
    text,
    whole,
)

QUESTION = ReadyQuestion(
    "link-downs-by-vendor",
    "NICs with most link downs, by optics vendor",
    (
        SINCE,
        UNTIL,
        RAIL,
        ReadyParameter("least", ParameterType.WHOLE, "at least so many link downs", "1", least=1, example="100"),
    ),
    # the module that was in the port in the middle of the hour counts
    """
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
    """,
    (
        text("vendor", "vendor of the module; null if not reported"),
        text("part", "part number of the module"),
        text("device", "host"),
        text("port", "NIC"),
        whole("rail", "rail of the NIC"),
        whole("link_downs", "times that the link went down with this part", "events"),
        whole("vendor_link_downs", "the same of all NICs with modules of this vendor", "events"),
        whole("vendor_nics", "NICs with modules of this vendor in this time; null for unknown vendors", "NICs"),
    ),
    "No NIC that reports link downs had so many. NICs that do not report them are not listed.",
    nics_reporting("link_downs"),
    "NICs report link downs",
)
