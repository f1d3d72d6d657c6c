"""Every recording rule and alert, by group, in the order of evaluation."""

from typing import Final

from dashboards.rules.cables import LINK_ALERTS
from dashboards.rules.declared import Alert, Group
from dashboards.rules.fabric import FABRIC_ALERTS
from dashboards.rules.findings import FINDING_ALERTS
from dashboards.rules.records import RECORDS
from dashboards.rules.service import SERVICE_ALERTS
from dashboards.rules.traffic import TRAFFIC_GROUP

GROUPS: Final[tuple[Group, ...]] = (
    RECORDS,
    LINK_ALERTS,
    FINDING_ALERTS,
    FABRIC_ALERTS,
    TRAFFIC_GROUP,
    SERVICE_ALERTS,
)
ALERTS: Final[tuple[Alert, ...]] = tuple(alert for group in GROUPS for alert in group.alerts)
