"""What Prometheus, Alertmanager, Grafana and Kubernetes need to monitor a fabric with truerail, for one site.

Dashboards, rules, routes and runbooks are generated and committed in the repository, and shipped in the wheel.
Everything that only repeats them in another format is derived here, on export for a site.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from truerail.outputs.monitoring.derived import grafana_alerts, prometheus_rule, records_alone

RUNBOOKS: Final = "https://truerail.example.net/docs/runbooks"
"""Address of the runbooks in the shipped rules; a site sets its own."""
TRUERAIL: Final = "http://127.0.0.1:8080"
"""Address of truerail's page in the shipped rules and dashboards; a site sets its own."""
GRAFANA: Final = "http://127.0.0.1:3000"
"""Address of Grafana in the shipped rules; a site sets its own."""
RULES: Final = "prometheus/truerail.rules.yaml"
OPERATOR_RULES: Final = "kubernetes/truerail.prometheusrule.yaml"
_REPOSITORY: Final = Path(__file__).resolve().parents[3]
_WHEEL: Final = Path(__file__).resolve().parent / "shipped"


def monitoring_files(runbooks: str = RUNBOOKS, truerail: str = TRUERAIL, grafana: str = GRAFANA) -> dict[str, str]:
    """Texts by path below the folder that a site loads from. `runbooks`, `truerail` and `grafana` are addresses without
    quotes or blanks: of the runbooks, of truerail's page, and of Grafana.
    """
    made = _shipped()
    for shipped, own in ((RUNBOOKS, runbooks), (TRUERAIL, truerail), (GRAFANA, grafana)):
        made[RULES] = made[RULES].replace(shipped, own.rstrip("/"))
    for name in [name for name in made if name.startswith("grafana/")]:
        made[name] = made[name].replace(f'"{TRUERAIL}"', f'"{truerail.rstrip("/")}"')
    return {
        **made,
        OPERATOR_RULES: prometheus_rule(made[RULES]),
        "grafana-alerting/truerail.yaml": grafana_alerts(made[RULES]),
        "prometheus-records/truerail.records.yaml": records_alone(made[RULES]),
    }


def _shipped() -> dict[str, str]:
    """The generated files, from the wheel or, in a checkout, from their committed place."""
    if _WHEEL.is_dir():
        return _texts(_WHEEL)
    runbooks = {f"runbooks/{name}": text for name, text in _texts(_REPOSITORY / "docs" / "runbooks").items()}
    return _texts(_REPOSITORY / "dashboards" / "generated") | runbooks


def _texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Writes texts below a folder. Raises OSError if one cannot be written."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
