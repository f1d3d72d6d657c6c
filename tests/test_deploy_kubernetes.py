"""The manifests for Kubernetes: valid one by one, and put together by kustomize where a kubectl is at hand."""

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from tests.deploying import DEPLOY, ROOT, document, passes, run, tool
from truerail.cli.app import app
from truerail.link.server_files import cluster_servers
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
    core = [_short(one) for one in objects if one["apiVersion"] != MONITORING]
    file = folder / "core.yaml"
    file.write_text(yaml.safe_dump_all(core))
    said = tool("kubernetes-validate", "--strict", file)
    passes(said)
    assert (said.stdout + said.stderr).count(" passed for resource ") == len(core)
    for one in objects:
        if one["apiVersion"] == MONITORING:
            jsonschema.validate(one, json.loads((FOLDER / "schemas" / f"{one['kind'].lower()}.json").read_text()))


def _short(one: dict[str, Any]) -> dict[str, Any]:
    """A ConfigMap with the beginnings of its texts: a schema says no more of them than that they are texts."""
    if one["kind"] != "ConfigMap":
        return one
    return {**one, "data": {name: text[:80] if isinstance(text, str) else text for name, text in one["data"].items()}}


@cache
def built(overlay: Path) -> list[dict[str, Any]]:
    """What kustomize makes of a folder. No distribution packages a kubectl with components: without one, skipped."""
    if not shutil.which("kubectl"):
        pytest.skip("kubectl is not installed: what kustomize puts together is not checked")
    return [one for one in yaml.load_all(passes(run("kubectl", "kustomize", overlay)), yaml.CSafeLoader) if one]


def references(kustomization: dict[str, Any]) -> Iterator[str]:
    yield from kustomization.get("resources", ())
    yield from kustomization.get("components", ())
    yield from (patch["path"] for patch in kustomization.get("patches", ()) if "path" in patch)
    for made in kustomization.get("configMapGenerator", ()):
        yield from (file.rpartition("=")[2] for file in made["files"])


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
    (deployment,) = (one for one in objects if one["kind"] == "Deployment" and one["metadata"]["name"] == "truerail")
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
    settings = [overlay / name for name in ("truerail.yaml", "poller.yaml", "front.yaml") if (overlay / name).exists()]
    assert settings
    for file in settings:
        shutil.copy(file, tmp_path)
        done = CliRunner().invoke(app, ["serve", "--check", "-c", str(tmp_path / file.name)])
        assert done.exit_code == 0, done.output
        assert "OK. 80 devices" in done.output


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


ROLES = {"truerail": "judge", "truerail-poller": "poller", "truerail-front": "front"}
"""Deployments of the overlay with a bus."""


@pytest.fixture(scope="module")
def in_roles() -> dict[tuple[str, str], dict[str, Any]]:
    """The objects of the overlay with a bus, by kind and name."""
    return {(one["kind"], one["metadata"]["name"]): one for one in built(FOLDER / "overlays" / "bus")}


def test_each_role_knows_all_servers_and_has_the_key_of_its_role(
    in_roles: dict[tuple[str, str], dict[str, Any]],
) -> None:
    bus = in_roles["StatefulSet", "truerail-bus"]["spec"]
    (clients, servers) = in_roles["Service", "truerail-bus"]["spec"]["ports"]
    names = [f"truerail-bus-{number}.{bus['serviceName']}" for number in range(bus["replicas"])]
    assert [server.name for server in cluster_servers(",".join(f"{name}:{servers['port']}" for name in names))] == [
        name.partition(".")[0] for name in names
    ]
    for deployment, role in ROLES.items():
        (container,) = in_roles["Deployment", deployment]["spec"]["template"]["spec"]["containers"]
        assert f"--role={role}" in container["args"]
        assert "--bus=" + ",".join(f"tls://{name}:{clients['port']}" for name in names) in container["args"]
        key = "poller-default" if role == "poller" else role
        assert f"--creds=/run/secrets/truerail/{key}.nk" in container["args"]
    secrets = {
        volume["secret"]["secretName"]
        for one in (*(in_roles["Deployment", name] for name in ROLES), in_roles["StatefulSet", "truerail-bus"])
        for volume in one["spec"]["template"]["spec"]["volumes"]
        if "secret" in volume
    }
    assert len(secrets) == 4, "no role sees the key of another one"


@pytest.mark.parametrize("name", [*ROLES, "truerail-bus"])
def test_each_role_is_as_locked_down_as_the_service(in_roles: dict[tuple[str, str], dict[str, Any]], name: str) -> None:
    kind = "StatefulSet" if name == "truerail-bus" else "Deployment"
    template = in_roles[kind, name]["spec"]["template"]
    spec, (container,) = template["spec"], template["spec"]["containers"]
    assert spec["securityContext"] == POD["spec"]["securityContext"]
    assert container["securityContext"] == POD["spec"]["containers"][0]["securityContext"]
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)
    labels = template["metadata"]["labels"].items()
    for policy in ("NetworkPolicy", "PodDisruptionBudget"):
        found = [one["spec"] for (of, _), one in in_roles.items() if of == policy]
        chosen = [one.get("podSelector", one.get("selector"))["matchLabels"].items() <= labels for one in found]
        assert chosen.count(True) == 1, policy


def test_people_come_in_by_the_fronts_and_prometheus_by_the_judges(
    in_roles: dict[tuple[str, str], dict[str, Any]],
) -> None:
    monitor = in_roles["ServiceMonitor", "truerail"]["spec"]["selector"]["matchLabels"].items()
    scraped = [
        one for (kind, _), one in in_roles.items() if kind == "Service" and monitor <= one["metadata"]["labels"].items()
    ]
    assert [one["spec"]["selector"] for one in scraped] == [{"app.kubernetes.io/name": "truerail"}]
    entrance = in_roles["Service", "truerail"]["spec"]
    assert entrance["selector"] == {"app.kubernetes.io/name": "truerail-front"}
    judges = in_roles["NetworkPolicy", "truerail"]["spec"]["egress"]
    assert {port["port"] for rule in judges for port in rule["ports"]} == {53, "clients", 5432}
