"""The Helm chart: what the real helm makes of it, checked by the real kubectl, kubernetes-validate and truerail."""

import gzip
import json
import os
import re
from collections.abc import Iterator
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from tests.deploying import DEPLOY, ROOT, document, passes, tool
from truerail import __version__
from truerail.cli.app import app
from truerail.link.server_files import cluster_servers
from truerail.outputs.monitoring import monitoring_files

CHART = DEPLOY / "helm" / "truerail"
FOLDER = ROOT / "tests" / "chart"
CASES = ("default", "bus", "agent")
FILES = (
    f"--set-file=files.inventory\\.yaml={FOLDER}/inventory.yaml",
    f"--set-file=files.known_hosts={FOLDER}/known_hosts",
)
RECORDED = {
    "default": ("config", "networkpolicies", "service"),
    "bus": ("bus", "config", "networkpolicies", "roles", "service"),
    "agent": ("agent",),
}
"""The templates whose objects are recorded, in each case."""
BUS = ("--set=bus.enabled=true", "--set=settings.journal.url=postgresql://truerail@db/truerail")
MONITORING = "monitoring.coreos.com/v1"
MOST_BYTES = 1 << 20
"""What etcd takes, of a config map as of the secret in which helm keeps a release:
https://kubernetes.io/docs/concepts/configuration/configmap/
"""
ROLES = {"truerail": "judge", "truerail-poller-default": "poller", "truerail-front": "front"}
"""Deployments with a bus."""
REFUSED = {
    "two of the service on one journal": (("--set=replicas=2",), "'replicas' not allowed"),
    "a bus with SQLite": (("--set=bus.enabled=true",), "missing property 'journal'"),
    "a bus with SQLite by name": (
        ("--set=bus.enabled=true", "--set=settings.journal.url=sqlite:////var/lib/truerail/a.db"),
        "'sqlite:////var/lib/truerail/a.db' does not match pattern '^postgresql'",
    ),
    "a journal that the pod loses": (("--set=settings.journal.url=sqlite:////tmp/a.db",), "does not match pattern"),
    "agents without a bus": (("--set=agent.enabled=true",), "at '/bus/enabled': value must be true"),
    "agents that know no bus": ((*BUS, "--set=agent.enabled=true"), "at '/agent/bus': '' does not match"),
    "no pollers": ((*BUS, "--set-json=bus.zones=[]"), "at '/bus/zones': minItems"),
    "another port": (("--set=settings.http.port=80",), "at '/settings/http'"),
    "a setting of the chart that is misspelled": (("--set=journal.sice=1Gi",), "'sice' not allowed"),
    "a size without its unit": (("--set=journal.size=20GB",), "at '/journal/size': '20GB' does not match"),
    "an inventory that is not given": (
        ("--set=settings.inventory=hosts.yaml",),
        "settings.inventory is hosts.yaml, which is not among files: --set-file 'files.hosts\\.yaml=hosts.yaml'",
    ),
}


def helm(*arguments: object) -> Any:
    return tool("helm", *arguments, HOME=str(FOLDER))


def values(case: str) -> tuple[str, ...]:
    """The options of a case: its values, and the files that each release has."""
    return FILES if case == "default" else (*FILES, f"--values={FOLDER}/{case}.values.yaml")


@cache
def rendered(case: str) -> str:
    return passes(helm("template", "truerail", CHART, "--namespace=truerail", *values(case)))


@cache
def objects(case: str) -> dict[tuple[str, str], dict[str, Any]]:
    """What is installed, by kind and name."""
    made = [one for one in yaml.load_all(rendered(case), yaml.CSafeLoader) if one]
    found = {(one["kind"], one["metadata"]["name"]): one for one in made}
    assert len(found) == len(made)
    return found


def pods(case: str) -> dict[str, dict[str, Any]]:
    """The templates of pods, by the name of what makes them."""
    return {
        name: one["spec"]["template"] for (_, name), one in objects(case).items() if "template" in one.get("spec", {})
    }


def validated(found: list[dict[str, Any]], folder: Path) -> None:
    """Core kinds by kubernetes-validate, those of the Prometheus operator by the schemas beside the values."""
    core = [_short(one) for one in found if one["apiVersion"] != MONITORING]
    file = folder / "core.yaml"
    file.write_text(yaml.safe_dump_all(core))
    done = tool("kubernetes-validate", "--strict", file)
    passes(done)
    assert (done.stdout + done.stderr).count(" passed for resource ") == len(core)
    for one in found:
        if one["apiVersion"] == MONITORING:
            jsonschema.validate(one, json.loads((FOLDER / f"{one['kind'].lower()}.json").read_text()))


def _short(one: dict[str, Any]) -> dict[str, Any]:
    """A ConfigMap with the beginnings of its texts: a schema says no more of them than that they are texts."""
    return {**one, "data": {name: text[:80] for name, text in one["data"].items()}} if "data" in one else one


@pytest.mark.parametrize(("case", "templates"), RECORDED.items())
def test_what_is_installed_is_as_recorded(case: str, templates: tuple[str, ...]) -> None:
    """Without labels, rules and dashboards, which are compared below."""
    made = rendered(case).split("---\n")
    kept = [one for one in made if any(f"# Source: truerail/templates/{name}.yaml" in one for name in templates)]
    text = "---\n".join(re.sub(r"^ +app\.kubernetes\.io/.*\n", "", one, flags=re.MULTILINE) for one in kept)
    recorded = FOLDER / f"{case}.yaml"
    if os.environ.get("TRUERAIL_REFRESH"):
        recorded.write_text(text)
    assert text == recorded.read_text()


@pytest.mark.parametrize("case", CASES)
def test_the_chart_is_well_made_and_its_objects_are_valid(case: str, tmp_path: Path) -> None:
    passes(helm("lint", "--strict", CHART, *values(case)))
    validated(list(objects(case).values()), tmp_path)


def test_the_validators_can_fail(tmp_path: Path) -> None:
    deployment = objects("default")["Deployment", "truerail"]
    with pytest.raises(AssertionError, match="replicas"):
        validated([{**deployment, "spec": {**deployment["spec"], "replicas": "one"}}], tmp_path)
    monitor = objects("bus")["ServiceMonitor", "truerail"]
    wrong = {**monitor, "spec": {**monitor["spec"], "endpoints": [{"port": "http", "scrape_interval": "30s"}]}}
    with pytest.raises(jsonschema.ValidationError, match="scrape_interval"):
        validated([deployment, wrong], tmp_path)


class _Discovery(BaseHTTPRequestHandler):
    """Says which kinds a cluster has, and has no object."""

    kinds: frozenset[tuple[str, str]]

    def do_GET(self) -> None:
        versions = sorted({version for version, _ in self.kinds})
        path = self.path.partition("?")[0].removeprefix("/apis/").removeprefix("/api/")
        body: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "reason": "NotFound", "code": 404}
        if path == "/api":
            body = {"kind": "APIVersions", "versions": ["v1"]}
        elif path == "/apis":
            named = [(one, *one.split("/")) for one in versions if "/" in one]
            groups = [{"name": group, "versions": [{"groupVersion": one, "version": v}]} for one, group, v in named]
            body = {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        elif path in versions:
            resources = [
                {"name": f"{kind.lower()}s", "kind": kind, "namespaced": "Cluster" not in kind, "verbs": ["get"]}
                for version, kind in self.kinds
                if version == path
            ]
            body = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": path, "resources": resources}
        self.send_response(404 if "code" in body else 200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of what kubectl asks for the kinds that a cluster has."""
    kinds = frozenset((one["apiVersion"], one["kind"]) for case in CASES for one in objects(case).values())
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Discovery,), {"kinds": kinds})) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("case", CASES)
def test_kubectl_accepts_what_is_installed(case: str, cluster: str, tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(rendered(case))
    words = ("apply", "--dry-run=client", "--validate=false", f"--server={cluster}", "--output=name", "-f", file)
    done = passes(tool("kubectl", *words, HOME=str(tmp_path), KUBECONFIG=str(tmp_path / "none")))
    assert len(done.splitlines()) == len(objects(case))


@pytest.mark.parametrize("why", REFUSED)
def test_values_that_contradict_each_other_are_refused(why: str) -> None:
    options, words = REFUSED[why]
    done = helm("template", "truerail", CHART, *FILES, *options)
    assert done.returncode == 1
    assert words in done.stderr


@pytest.mark.parametrize("case", CASES)
def test_the_settings_of_each_role_are_good(case: str, tmp_path: Path) -> None:
    asked = 0
    for (kind, name), one in objects(case).items():
        if kind == "ConfigMap" and "truerail.yaml" in one["data"]:
            folder = tmp_path / name
            folder.mkdir()
            for file, text in (one["data"] | {"inventory.yaml": (FOLDER / "inventory.yaml").read_text()}).items():
                (folder / file).write_text(text)
            done = CliRunner().invoke(app, ["serve", "--check", "-c", str(folder / "truerail.yaml")])
            assert done.exit_code == 0, done.output
            assert "OK. 80 devices" in done.output
            asked += 1
    assert asked == (1 if case == "default" else 3)


@pytest.mark.parametrize(
    ("case", "name"), [("default", "truerail"), *(("bus", name) for name in (*ROLES, "truerail-bus"))]
)
def test_a_pod_may_do_nothing_that_it_does_not_need(case: str, name: str) -> None:
    spec = pods(case)[name]["spec"]
    (container,) = spec["containers"]
    context = spec["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert f"USER {context['runAsUser']}:{context['runAsGroup']}\n" in (DEPLOY / "Dockerfile").read_text()
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    asks_the_cluster = (case, name) == ("bus", "truerail")
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (asks_the_cluster, False)
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    assert not [volume for volume in spec["volumes"] if "hostPath" in volume]
    assert not [one for kind, one in objects(case) if kind == "Secret"]


@pytest.mark.parametrize("case", CASES)
def test_a_pod_has_what_it_mounts_one_policy_and_one_budget(case: str) -> None:
    for name, template in pods(case).items():
        labels = template["metadata"]["labels"].items()
        of_its_maker = next(
            one for (_, own), one in objects(case).items() if own == name and "template" in one.get("spec", {})
        )
        assert of_its_maker["spec"]["selector"]["matchLabels"].items() <= labels
        for volume in template["spec"]["volumes"]:
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in objects(case)
            if "persistentVolumeClaim" in volume:
                assert ("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]) in objects(case)
        for policy in ("NetworkPolicy", "PodDisruptionBudget"):
            found = [one["spec"] for (kind, _), one in objects(case).items() if kind == policy]
            chosen = [one.get("podSelector", one.get("selector"))["matchLabels"].items() <= labels for one in found]
            host = name == "truerail-agent" or (policy == "PodDisruptionBudget" and case == "default")
            assert chosen.count(True) == (0 if host else 1), (name, policy)


def test_each_role_knows_all_servers_and_has_the_key_of_its_role() -> None:
    bus = objects("bus")["StatefulSet", "truerail-bus"]["spec"]
    (clients, servers) = objects("bus")["Service", "truerail-bus"]["spec"]["ports"]
    names = [f"truerail-bus-{number}.{bus['serviceName']}" for number in range(bus["replicas"])]
    assert [server.name for server in cluster_servers(",".join(f"{name}:{servers['port']}" for name in names))] == [
        name.partition(".")[0] for name in names
    ]
    for deployment, role in ROLES.items():
        (container,) = pods("bus")[deployment]["spec"]["containers"]
        assert f"--role={role}" in container["args"]
        assert "--bus=" + ",".join(f"tls://{name}:{clients['port']}" for name in names) in container["args"]
        key = "poller-default" if role == "poller" else role
        assert f"--creds=/run/secrets/truerail/{key}.nk" in container["args"]
    secrets = {
        volume["secret"]["secretName"]
        for template in pods("bus").values()
        for volume in template["spec"]["volumes"]
        if "secret" in volume
    }
    assert len(secrets) == 4, "no role sees the key of another one"


def test_people_come_in_by_the_fronts_and_prometheus_by_the_judges() -> None:
    found = objects("bus")
    monitor = found["ServiceMonitor", "truerail"]["spec"]["selector"]["matchLabels"].items()
    scraped = [
        one for (kind, _), one in found.items() if kind == "Service" and monitor <= one["metadata"]["labels"].items()
    ]
    assert [one["metadata"]["name"] for one in scraped] == ["truerail-judge"]
    entrance = found["Service", "truerail"]["spec"]
    assert entrance["selector"]["app.kubernetes.io/component"] == "front"
    judges = found["NetworkPolicy", "truerail-service"]["spec"]["egress"]
    assert {port["port"] for rule in judges for port in rule["ports"]} == {53, "clients", 6432, 443, 6443}


def test_rules_and_dashboards_are_those_of_the_export_with_the_addresses_of_the_release() -> None:
    found = objects("bus")
    exported = monitoring_files(truerail="https://rails.example.org", grafana="https://grafana.example.org")
    rules = yaml.load(exported["prometheus/truerail.rules.yaml"], yaml.CSafeLoader)
    resource = found["PrometheusRule", "truerail"]
    assert resource["spec"] == rules
    assert resource["metadata"]["labels"]["release"] == "prometheus"
    boards = [one for one in found.values() if one["metadata"].get("labels", {}).get("grafana_dashboard") == "1"]
    given = {f"grafana/{name}": text for one in boards for name, text in one["data"].items()}
    assert given == {name: text for name, text in exported.items() if name.startswith("grafana/")}
    assert all(len(json.dumps(one)) < MOST_BYTES for one in boards)


def test_the_package_is_of_this_version_and_small_enough_for_a_release(tmp_path: Path) -> None:
    passes(helm("package", CHART, f"--destination={tmp_path}"))
    package = tmp_path / f"truerail-{__version__}.tgz"
    assert document(CHART / "Chart.yaml")["appVersion"] == __version__
    assert passes(helm("template", "truerail", package, "--namespace=truerail", *values("bus"))) == rendered("bus")
    release = package.stat().st_size + len(gzip.compress(rendered("bus").encode()))
    assert release * 4 / 3 < MOST_BYTES
