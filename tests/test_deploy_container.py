"""The container image and the compose file: checked without an engine, and the image's steps done by hand."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.deploying import DEPLOY, ROOT, document, passes, run, tool
from tests.real import require
from truerail.cli.app import app
from truerail.link.server_files import cluster_servers

COMPOSE = DEPLOY / "compose"
SERVICES: dict[str, Any] = document(COMPOSE / "compose.yaml")["services"]
BUS: dict[str, Any] = document(COMPOSE / "bus.yaml")
PYTHON_FIRST = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PIP_ROOT_USER_ACTION": "ignore"}
VARIABLE = re.compile(r"\$\{([A-Z_]+):-([^}]*)\}")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, " ".join(rest.split())) for word, _, rest in (line.partition(" ") for line in lines)]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    return found[max(n for n, (word, _) in enumerate(found) if word == "FROM") :]


def of(word: str, stage: list[tuple[str, str]]) -> list[str]:
    return [rest for found, rest in stage if found == word]


def test_the_image_has_two_stages_on_a_pinned_slim_base() -> None:
    (argument, *_) = of("ARG", instructions())
    assert re.fullmatch(r"PYTHON=3\.1[1-4]-slim-[a-z]+", argument)
    assert of("FROM", instructions()) == ["python:${PYTHON} AS build", "python:${PYTHON}"]


def test_every_package_of_the_image_is_checked_against_its_hash() -> None:
    installs = [part for rest in of("RUN", instructions()) for part in rest.split("&&") if " install " in part]
    from_index = [part for part in installs if "--no-index" not in part and "-m pip" in part]
    assert len(from_index) == 2
    assert all("--require-hashes -r requirements/" in part for part in from_index)
    assert "http" not in "".join(of("ENV", instructions()) + of("ARG", instructions()))


def test_the_image_runs_as_nobody_in_particular_and_needs_no_shell() -> None:
    stage = last_stage()
    assert of("USER", stage) == ["10001:10001"]
    assert [word for word, _ in stage].index("USER") > max(n for n, (word, _) in enumerate(stage) if word == "RUN")
    assert json.loads(of("ENTRYPOINT", stage)[0]) == ["truerail"]
    assert json.loads(of("CMD", stage)[0])[0] == "serve"
    health = json.loads(of("HEALTHCHECK", stage)[0].partition("CMD ")[2])
    assert health[0] == "python"
    compile(health[2], "HEALTHCHECK", "exec")
    assert of("COPY", stage) == ["--from=build /opt/truerail /opt/truerail"]


def test_what_the_image_copies_is_in_its_context_and_nothing_else() -> None:
    copied = {
        name
        for rest in of("COPY", instructions())
        if "--from" not in rest
        for name in rest.split()[:-1]
    }  # fmt: skip
    sent = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"}
    assert copied == sent
    assert all((ROOT / name).exists() for name in copied)


def test_the_steps_of_the_image_make_a_truerail_that_evaluates_a_recorded_fabric(tmp_path: Path) -> None:
    """All steps but those that install other packages: these are lent by the environment of the tests."""
    source = tmp_path / "source"
    environment = tmp_path / "opt" / "truerail"
    for word, rest in instructions()[: -len(last_stage())]:
        if word == "COPY":
            *names, folder = rest.split()
            for name in names:
                target = source / (Path(name).name if len(names) > 1 or folder.endswith("/") else folder)
                copy(ROOT / name, target)
        if word == "RUN":
            steps = [step for step in rest.split("&&") if "--require-hashes" not in step]
            passes(run("sh", "-ec", " && ".join(steps).replace(" /", f" {tmp_path}/"), cwd=source, **PYTHON_FIRST))
            lend(environment)
    notices = (environment / "share/doc/truerail/THIRD-PARTY-NOTICES").read_text(encoding="utf-8")
    assert all(re.search(rf"^{name} \S+  \S", notices, re.MULTILINE) for name in ("Python", "numpy", "truerail"))
    assert "Permission is hereby granted" in notices
    truerail = environment / "bin" / "truerail"
    made = ["demo", "--once", "--hosts", "4", "--rails", "2", "--fault", "cable-swap", "-o", str(tmp_path / "fabric")]
    assert CliRunner().invoke(app, made).exit_code == 0
    check = ["check", "--plan", "fabric/plan.csv", "--from", "fabric/capture", "--format", "json"]
    done = run(truerail, *check, cwd=tmp_path)
    assert done.returncode == 1
    assert [cause["kind"] for cause in json.loads(done.stdout)["causes"]] == ["cable-swap"]


def lend(environment: Path) -> None:
    """Lends the packages of the tests to an environment."""
    lent = next(Path(sys.prefix).glob("lib/python*/site-packages"))
    next(environment.glob("lib/python*/site-packages")).joinpath("lent.pth").write_text(f"{lent}\n")


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def test_the_compose_files_follow_the_specification_and_a_broken_one_does_not(tmp_path: Path) -> None:
    broken = tmp_path / "compose.yaml"
    broken.write_text((COMPOSE / "compose.yaml").read_text().replace("read_only: true", "read_only: [1]"))
    files = [COMPOSE / "compose.yaml", COMPOSE / "bus.yaml", broken]
    done = tool("check-jsonschema", "-o", "json", "--builtin-schema", "vendor.compose-spec", *files)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert {one["filename"] for one in found["errors"]} == {str(broken)}, found
    assert found.get("parse_errors", []) == []


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_is_locked_down(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "network_mode", "pid", "env_file"} & set(service)
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "healthcheck" in service or name == "truerail", "the image of truerail brings its own"


@pytest.mark.parametrize("name", SERVICES)
def test_every_image_has_a_tag(name: str) -> None:
    image = VARIABLE.sub(r"\2", SERVICES[name]["image"])
    assert re.fullmatch(r"[a-z/]+:(v?\d+\.\d+\.\d+|local)", image)


@pytest.mark.parametrize("name", SERVICES)
def test_every_mount_exists_and_only_named_volumes_are_written(name: str) -> None:
    volumes = document(COMPOSE / "compose.yaml")["volumes"]
    for mount in SERVICES[name]["volumes"]:
        source, _, rest = VARIABLE.sub(r"\2", mount).partition(":")
        assert source in volumes or ((COMPOSE / source).exists() and rest.endswith(":ro")), mount


def test_secrets_are_files_that_are_never_in_the_repository() -> None:
    reported = document(COMPOSE / "compose.yaml")["secrets"]
    used = {secret for service in SERVICES.values() for secret in service.get("secrets", ())}
    assert used == set(reported)
    assert all(secret["file"].startswith("./secrets/") for secret in reported.values())
    assert (COMPOSE / "secrets" / ".gitignore").read_text() == "*\n!.gitignore\n"


def test_the_example_of_env_names_every_variable_with_its_default() -> None:
    files = (COMPOSE / "compose.yaml", COMPOSE / "bus.yaml")
    defaults = dict(VARIABLE.findall("".join(file.read_text() for file in files)))
    lines = [line for line in (COMPOSE / ".env.example").read_text().splitlines() if line[0] != "#"]
    assert dict(line.split("=", 1) for line in lines) == defaults


@pytest.mark.parametrize("name", sorted(BUS["services"].keys() - SERVICES.keys()))
def test_every_container_of_a_bus_is_as_locked_down(name: str) -> None:
    service = BUS["services"][name]
    for key in ("read_only", "cap_drop", "security_opt", "restart", "logging"):
        assert service[key] == SERVICES["truerail"][key]
    assert not {"privileged", "cap_add", "network_mode", "pid", "env_file"} & set(service)
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
    assert re.fullmatch(r"[a-z/]+:(\d+\.\d+\.\d+-alpine|local)", VARIABLE.sub(r"\2", service["image"]))
    for mount in service["volumes"]:
        source, _, rest = mount.partition(":")
        assert source in BUS["volumes"] or rest.endswith(":ro"), mount


def test_each_role_of_a_bus_has_its_own_key_and_all_servers() -> None:
    services, servers = BUS["services"], [name for name in BUS["services"] if name.startswith("bus-")]
    assert [one.name for one in cluster_servers(",".join(f"{name}:6222" for name in servers))] == servers
    for name in servers:
        assert services[name]["command"] == ["--config", f"/etc/nats/nats-server-{name}.conf"]
    for name, role in (("truerail", "judge"), ("poller", "poller"), ("front", "front")):
        command = services[name]["command"]
        assert f"--role={role}" in command
        assert f"--bus={','.join(f'tls://{server}:4222' for server in servers)}" in command
        assert f"--creds=/run/secrets/{role}_nk" in command
        keys = {secret for secret in services[name]["secrets"] if secret.endswith("_nk")}
        assert keys == {f"{role}_nk"}
    kept = document(COMPOSE / "compose.yaml")["secrets"].keys() | BUS["secrets"].keys()
    assert {secret for service in services.values() for secret in service.get("secrets", ())} <= kept
    assert all(secret["file"].startswith("./secrets/bus/") for secret in BUS["secrets"].values())


def test_the_settings_of_the_example_are_good() -> None:
    done = CliRunner().invoke(app, ["serve", "--check", "-c", str(COMPOSE / "config/truerail.yaml")])
    assert done.exit_code == 0, done.output
    assert "OK. 80 devices" in done.output


def test_prometheus_takes_its_configuration(tmp_path: Path) -> None:
    require("promtool")
    token = tmp_path / "metrics_token"
    token.write_text("x" * 32)
    config = tmp_path / "prometheus.yml"
    shipped = (COMPOSE / "prometheus" / "prometheus.yml").read_text()
    config.write_text(
        shipped.replace("/run/secrets/metrics_token", str(token)).replace("/etc/dashboards", str(ROOT / "dashboards"))
    )
    passes(run("promtool", "check", "config", config))
    config.write_text(shipped)
    if not Path("/run/secrets/metrics_token").exists():
        assert run("promtool", "check", "config", config).returncode == 1, "the token's file is looked for"


def test_alertmanager_takes_its_configuration() -> None:
    require("amtool")
    (mounted,) = (volume for volume in SERVICES["alertmanager"]["volumes"] if "/etc/alertmanager" in volume)
    config = COMPOSE / VARIABLE.sub(r"\2", mounted).partition(":")[0] / "alertmanager.yml"
    passes(run("amtool", "check-config", config))
    (routed,) = passes(
        run("amtool", "config", "routes", "test", "--config.file", config, "severity=critical")
    ).splitlines()
    assert routed == "pager"


def test_grafana_is_provisioned_with_what_the_other_services_are_called() -> None:
    provisioning = COMPOSE / "grafana" / "provisioning"
    sources = document(provisioning / "datasources" / "prometheus.yaml")["datasources"]
    for source in sources:
        service, _, port = source["url"].removeprefix("http://").partition(":")
        assert SERVICES[service]["ports"][0].endswith(f":{port}")
    (provider,) = document(provisioning / "dashboards" / "truerail.yaml")["providers"]
    path = Path(provider["options"]["path"])
    assert list((ROOT / "dashboards" / path.relative_to("/etc/dashboards")).glob("truerail-*.json"))
    assert any(mount.endswith(":/etc/dashboards:ro") for mount in SERVICES["grafana"]["volumes"])


def test_no_shipped_file_is_ignored_by_git() -> None:
    require("git")
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout of git: nothing can be ignored")
    shipped = [path for path in DEPLOY.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    ignored = run("git", "check-ignore", *shipped).stdout.splitlines()
    assert [name for name in ignored if not Path(name).is_relative_to(COMPOSE / "secrets")] == []
