"""What the reader of a board chooses: data source, fabric, and down the chain pod, rail, host or switch."""

from typing import Final

from grafana_foundation_sdk.builders.dashboard import ConstantVariable, DatasourceVariable, QueryVariable
from grafana_foundation_sdk.models.dashboard import VariableOption, VariableRefresh, VariableSort

from dashboards.grafana.queries import FABRIC, POD, RAIL, SOURCE

Variable = DatasourceVariable | QueryVariable | ConstantVariable
_ANY: Final = ".*"
"""All pods, rails or racks, and also what belongs to none: a spine has no pod, a host's own finding no rail."""
_SOME: Final = ".+"


def common(page: str) -> list[Variable]:
    """What every board begins with: data source, truerail's page at the address `page`, fabric."""
    return [
        DatasourceVariable("datasource").label("Data source").type("prometheus"),
        ConstantVariable("truerail").label("truerail's page").value(page).description("Where truerail's page is read"),
        _chosen("fabric", "Fabric", "label_values(truerail_evaluation_number, fabric)"),
    ]


def pod() -> QueryVariable:
    """Pods of the fabric; several, and all at first."""
    return _several(_chosen("pod", "Pod", f"label_values(truerail_devices{{{FABRIC}}}, pod)"), _ANY)


def rail() -> QueryVariable:
    """Rails in these pods; several, and all at first."""
    return _several(_chosen("rail", "Rail", f"label_values(truerail_rail_state{{{POD}}}, rail)"), _ANY)


def hosts() -> QueryVariable:
    """Hosts on these rails; several, and all at first. After `pod()` and `rail()`."""
    return _several(_chosen("host", "Host", f"label_values(truerail_link_state{{{RAIL}}}, host)"), _SOME)


def host() -> QueryVariable:
    """One host of these pods. After `pod()`."""
    return _chosen("host", "Host", f"label_values(truerail_host_links{{{POD}}}, host)")


def switch() -> QueryVariable:
    """One switch of these pods, leaf or spine, that has planned cables below it or above it. After `pod()`."""
    reported = f'{{__name__=~"truerail_link_info|truerail_uplink_info", {POD}}}'
    return _chosen("switch", "Switch", f"label_values({reported}, switch)")


def lower_switch() -> QueryVariable:
    """One switch of these pods that has uplinks. After `pod()`."""
    return _chosen("switch", "Switch", f"label_values(truerail_uplink_info{{{POD}}}, switch)")


def _chosen(name: str, label: str, query: str) -> QueryVariable:
    asked: dict[str, object] = {"qryType": 1, "query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"}
    variable = QueryVariable(name).label(label).datasource(SOURCE).query(asked)
    return variable.refresh(VariableRefresh.ON_TIME_RANGE_CHANGED).sort(VariableSort.NATURAL_ASC)


def _several(variable: QueryVariable, every: str) -> QueryVariable:
    every_one = VariableOption(selected=True, text=["All"], value=["$__all"])
    return variable.multi(True).include_all(True).all_value(every).current(every_one)
