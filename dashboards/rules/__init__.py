"""Every recording rule and alert, by group as they are evaluated and tested."""

from typing import Final

from dashboards.rules.bus import BUS_ALERTS
from dashboards.rules.causes import CAUSE_GROUP
from dashboards.rules.declared import Alert, Group
from dashboards.rules.fabric import FABRIC_ALERTS
from dashboards.rules.records import RECORDS
from dashboards.rules.service import SERVICE_ALERTS
from dashboards.rules.traffic import TRAFFIC_GROUP

GROUPS: Final[tuple[Group, ...]] = (RECORDS, CAUSE_GROUP, FABRIC_ALERTS, TRAFFIC_GROUP, SERVICE_ALERTS, BUS_ALERTS)
ALERTS: Final[tuple[Alert, ...]] = tuple(alert for group in GROUPS for alert in group.alerts)
