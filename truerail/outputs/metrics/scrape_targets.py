"""Targets for Prometheus' HTTP service discovery (`http_sd_configs`): this service's own pages, and the hosts."""

from typing import Any
from urllib.parse import urlsplit

from truerail.analysis.published import Published
from truerail.model.names import natural_key
from truerail.model.plan import Device, Role
from truerail.outputs.metrics.metric_series import clean
from truerail.outputs.metrics.plan_rows import REST

Target = dict[str, Any]
META = "__meta_truerail_"


def sd(publication: Published | None, base_url: str, *, job: str = "", port: int | None = None) -> list[Target]:
    """Target groups as Prometheus reads them: `[{"targets": [...], "labels": {...}}]`.

    Without `port` the service's own pages under `base_url`: one for each pod, and one for everything without a pod.
    With `port` every host of the plan at that port (9100 for node_exporter, 9400 for dcgm-exporter), with the labels of
    truerail's own series, so that they join; `job` becomes the job's name. Empty before the first evaluation.
    """
    if port is None:
        return _own(publication, base_url)
    if publication is None:
        return []
    return [_host(publication.fabric, device, job, port) for device in publication.plan.of_role(Role.HOST)]


def _own(publication: Published | None, base_url: str) -> list[Target]:
    url = urlsplit(base_url)
    labels = {"__scheme__": url.scheme, "__metrics_path__": f"{url.path.rstrip('/')}/metrics"}
    pods = {device.pod for device in publication.plan.devices.values()} - {"", REST} if publication else set()
    if not pods:
        return [{"targets": [url.netloc], "labels": labels}]
    return [
        {"targets": [url.netloc], "labels": labels | {"__param_pod": pod, "instance": f"{url.netloc}/{clean(pod)}"}}
        for pod in (REST, *sorted(pods, key=natural_key))
    ]


def _host(fabric: str, device: Device, job: str, port: int) -> Target:
    address = device.address or device.name
    place = {"fabric": fabric, "pod": device.pod, "host": device.name, "job": job}
    meta = {"rack": device.rack, "unit": "" if device.unit is None else str(device.unit), "address": device.address}
    labels = place | {META + label: value for label, value in meta.items()}
    reported = {label: clean(value) for label, value in labels.items() if value}
    return {"targets": [f"[{address}]:{port}" if ":" in address else f"{address}:{port}"], "labels": reported}
