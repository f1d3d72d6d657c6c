"""The manifests for Kubernetes: valid one by one, and put together by kustomize where a kubectl is at hand."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from deploying import DEPLOY, ROOT, document, passes, run, tool

from truerail.outputs.monitoring import monitoring_files, write

FOLDER = DEPLOY / "kubernetes"
KUSTOMIZATIONS = sorted(path for path in FOLDER.rglob("kustomization.yaml"))
OVERLAYS = sorted(path for path in (FOLDER / "overlays").iterdir())
BOARDS = sorted((ROOT / "dashboards" / "generated" / "grafana").glob("*.json"))
CONFIG_MAP_BYTES = 1 << 20
"""What etcd takes: https://kubernetes.io/docs/concepts/configuration/configmap/"""
BASE = {path.stem: document(path) for path in (FOLDER / "base").glob("*.yaml")}
POD: dict[str, Any] = BASE["deployment"]["spec"]["template"]
MONITORING = "monitoring.coreos.com/v1"


def validated(objects: list[dict[str, Any]], folder: Path) -> None:
    """Core kinds by kubernetes-validate, those of the Prometheus operator by the schemas beside the manifests."""
    core = [one for one in objects if one["apiVersion"] != MONITORING]
    file = folder / "core.yaml"
    file.write_text(yaml.safe_dump_all(core))
    said = tool("kubernetes-validate", "--strict", file)
    passes(said)
    assert (said.stdout + said.stderr).count(" passed for resource ") == len(core)
    for one in objects:
        if one["apiVersion"] == MONITORING:
            jsonschema.validate(one, json.loads((FOLDER / "schemas" / f"{one['kind'].lower()}.json").read_text()))


def built(overlay: Path) -> list[dict[str, Any]]:
    """What kustomize makes of a folder. No distribution packages a kubectl with components: without one, skipped."""
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed: what kustomize puts together is not checked")
    return [one for one in yaml.safe_load_all(passes(run("kubectl", "kustomize", overlay))) if one]


def references(kustomization: dict[str, Any]) -> Iterator[str]:
    yield from kustomization.get("resources", ())
    yield from kustomization.get("components", ())
    yield from (patch["path"] for patch in kustomization.get("patches", ()) if "path" in patch)
    for made in kustomization.get("configMapGenerator", ()):
        yield from made["files"]


def test_every_manifest_is_valid_by_itself(tmp_path: Path) -> None:
    files = [*(FOLDER / "base").glob("*.yaml"), *(FOLDER / "components" / "monitoring").glob("*.yaml")]
    files.append(FOLDER / "overlays" / "example" / "namespace.yaml")
    objects = [document(path) for path in files if path.name != "kustomization.yaml"]
    assert len(objects) == 7
    validated(objects, tmp_path)


def test_the_validators_can_fail(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="replicas"):
        validated([{**BASE["deployment"], "spec": {**BASE["deployment"]["spec"], "replicas": "one"}}], tmp_path)
    monitor = document(FOLDER / "components" / "monitoring" / "servicemonitor.yaml")
    monitor["spec"]["endpoints"][0]["scrape_interval"] = "30s"
    with pytest.raises(jsonschema.ValidationError, match="scrape_interval"):
        validated([BASE["service"], monitor], tmp_path)


@pytest.mark.parametrize("path", KUSTOMIZATIONS, ids=lambda path: path.parent.name)
def test_every_kustomization_names_what_exists(path: Path) -> None:
    for name in references(document(path)):
        target = (path.parent / name).resolve()
        assert target.exists(), name


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_every_overlay_is_valid_and_refers_to_what_it_has(overlay: Path, tmp_path: Path) -> None:
    objects = built(overlay)
    validated(objects, tmp_path)
    by_name = {(one["kind"], one["metadata"]["name"]) for one in objects}
    (deployment,) = (one for one in objects if one["kind"] == "Deployment")
    spec = deployment["spec"]["template"]["spec"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    assert ("ConfigMap", volumes["config"]["configMap"]["name"]) in by_name
    claim = volumes["journal"].get("persistentVolumeClaim")
    assert ("PersistentVolumeClaim", "truerail-journal") in by_name if claim else "emptyDir" in volumes["journal"]
    assert ":" in spec["containers"][0]["image"]
    assert "Secret" not in {kind for kind, _ in by_name}


@pytest.mark.parametrize("overlay", OVERLAYS, ids=lambda path: path.name)
def test_the_settings_of_every_overlay_are_good(overlay: Path, tmp_path: Path) -> None:
    for name in ("inventory.yaml", "known_hosts"):
        shutil.copy(FOLDER / "overlays" / "example" / name, tmp_path)
    shutil.copy(overlay / "truerail.yaml", tmp_path)
    done = run(Path(sys.executable).with_name("truerail"), "serve", "--check", "-c", tmp_path / "truerail.yaml")
    passes(done)
    assert "OK. 80 devices" in done.stdout + done.stderr


def test_the_pod_may_do_nothing_that_it_does_not_need() -> None:
    spec, (container,) = POD["spec"], POD["spec"]["containers"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    assert not [volume for volume in spec["volumes"] if "hostPath" in volume]


def test_the_variables_of_kubernetes_are_no_settings() -> None:
    assert POD["spec"]["enableServiceLinks"] is False


def test_service_policy_and_monitor_select_the_pod() -> None:
    labels = POD["metadata"]["labels"].items()
    assert BASE["deployment"]["spec"]["selector"]["matchLabels"].items() <= labels
    assert BASE["service"]["spec"]["selector"].items() <= labels
    assert BASE["networkpolicy"]["spec"]["podSelector"]["matchLabels"].items() <= labels
    monitor = document(FOLDER / "components" / "monitoring" / "servicemonitor.yaml")["spec"]
    assert monitor["selector"]["matchLabels"].items() <= dict(BASE["kustomization"]["labels"][0]["pairs"]).items()
    assert monitor["endpoints"][0]["port"] == BASE["service"]["spec"]["ports"][0]["name"]


def test_the_user_of_the_pod_is_that_of_the_image() -> None:
    context = POD["spec"]["securityContext"]
    assert f"USER {context['runAsUser']}:{context['runAsGroup']}\n" in (DEPLOY / "Dockerfile").read_text()


def test_what_is_exported_brings_rules_and_dashboards_into_an_overlay(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "deploy" / "kubernetes")
    overlay = tmp_path / "deploy" / "kubernetes" / "overlays" / "example"
    write(overlay / "monitoring", monitoring_files())
    kustomization = document(overlay / "kustomization.yaml")
    kustomization["resources"].append("monitoring")
    (overlay / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    objects = built(overlay)
    validated(objects, tmp_path)
    (rule,) = (one for one in objects if one["kind"] == "PrometheusRule")
    assert rule["metadata"]["namespace"] == "truerail"
    dashboards = [one for one in objects if one["metadata"].get("labels", {}).get("grafana_dashboard") == "1"]
    assert {one["kind"] for one in dashboards} == {"ConfigMap"}
    assert {one["metadata"]["name"] for one in dashboards} == {path.stem for path in BOARDS}
    reported = {name: text for one in dashboards for name, text in one["data"].items()}
    assert reported == {path.name: path.read_text(encoding="utf-8") for path in BOARDS}


def test_a_config_map_holds_each_dashboard(tmp_path: Path) -> None:
    """Checked without a kubectl: what the exported kustomization names, and that no map is larger than it may be."""
    texts = monitoring_files()
    made = yaml.safe_load(texts["kustomization.yaml"])
    assert [one["files"] for one in made["configMapGenerator"]] == [[f"grafana/{path.name}"] for path in BOARDS]
    assert made["generatorOptions"]["labels"] == {"grafana_dashboard": "1"}
    assert set(made["resources"]) <= set(texts)
    maps = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": one["name"]},
            "data": {path.name: path.read_text(encoding="utf-8")},
        }
        for one, path in zip(made["configMapGenerator"], BOARDS, strict=True)
    ]
    assert maps
    assert all(len(json.dumps(one)) < CONFIG_MAP_BYTES for one in maps)
    validated([*maps, yaml.safe_load(texts[made["resources"][0]])], tmp_path)
