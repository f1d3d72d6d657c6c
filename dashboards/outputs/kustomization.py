"""What is generated, put together for kustomize: the rules as a PrometheusRule, the dashboards as config maps.

Grafana's sidecar takes every config map with the label `grafana_dashboard`:
https://github.com/grafana/helm-charts/blob/main/charts/grafana/README.md#sidecar-for-dashboards
"""

from collections.abc import Iterable

from dashboards.outputs.texts import as_yaml


def kustomization(boards: Iterable[str], rules: Iterable[str]) -> str:
    """The folder's `kustomization.yaml`; both are file names relative to it. A config map for each dashboard."""
    maps = [{"name": board.rpartition("/")[2].removesuffix(".json"), "files": [board]} for board in sorted(boards)]
    return as_yaml(
        {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": sorted(rules),
            "configMapGenerator": maps,
            "generatorOptions": {
                "disableNameSuffixHash": True,  # the sidecar follows changes of a config map under its name
                "labels": {"grafana_dashboard": "1"},
                "annotations": {"grafana_folder": "truerail"},
            },
        }
    )
