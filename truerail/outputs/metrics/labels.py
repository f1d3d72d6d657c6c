"""The meaning of each label, for the reference."""

from typing import Final

LABELS: Final = {
    "fabric": "the fabric's name in `truerail.yaml`",
    "pod": "the pod in the plan",
    "host": "the host as the plan names it",
    "rail": "the rail in the plan",
    "plane": "the plane in the plan, where NICs have two",
    "nic": "the host's port as the plan names it; with `host` it identifies a link. On `truerail_device_findings` the "
    "port that the finding is about",
    "switch": "the switch as the plan names it; on `truerail_link_info` the one that the link is planned on",
    "switch_port": "that switch's port",
    "action": "on causes and findings the first action, at most 600 characters; on `truerail_link_actual_info` `move` "
    "where a cause moves the cable, `none` where only names are wrong, `decide` where the evidence does not decide or "
    "another repair comes first",
    "actual_switch": "the device that a wrong link actually ends on",
    "actual_switch_port": "the port there",
    "actual_rail": "the rail that the plan gives that port",
    "peer": "the switch above, as the plan names it",
    "peer_port": "its port",
    "rack": "the host's rack; on causes and findings the first racks",
    "unit": "the rack unit of a single device",
    "switch_rack": "the switch's rack",
    "netdev": "the network interface, as the host itself names it",
    "device": "the RDMA device (`mlx5_0`), as node_exporter's infiniband collector labels it",
    "port": "the port of the RDMA device (`1`), as node_exporter's infiniband collector labels it",
    "pci_bus_id": "the NIC's PCI address in the form of dcgm-exporter's label: `00000000:1A:00.0`",
    "gpu": "the GPU's index, as dcgm-exporter labels it; on `truerail_link_info` only where one GPU alone is nearest",
    "state": "on links `right`, `wrong`, `missing` or `unknown`; on hosts `right`, `broken` or `unknown`; on findings "
    "the state of their life; on probes what they show, see the metric",
    "verified": "`both ends`, `one end`, `other sources` (without LLDP), `device only` (a port is not named) or `none`",
    "role": "`host`, `leaf`, `spine` or `superspine`",
    "rule": "the rule's code",
    "name": "the rule's or the plan's name",
    "severity": "`critical`, `warning` or `info`",
    "muted": "`no`, `acknowledged` or `maintenance`",
    "kind": "the kind of cause",
    "cause": "the cause's key: stable over evaluations and restarts, and the end of the address of its page",
    "finding": "the finding's id, stable in the same way",
    "findings": "the ids of the first findings that the cause explains",
    "subject": "the first ports or devices that it is about",
    "summary": "what is wrong, at most 600 characters",
    "page_url": "the address of its page, where the setting `page.url` gives the public one",
    "status": "`pass`, `fail`, `unknown`, `not applicable` or `error`",
    "collector": "the collector's name",
    "source": "the machine that reports a scheduler's jobs: `slurm`, `kubernetes`, or its name in the inventory",
    "health": "`keeping`, `failing` or `off`",
    "digest": "the plan's digest",
    "inferred": "`yes` where no plan is given and the rails are inferred from the fabric, else `no`",
    "version": "the version of truerail",
    "python": "the version of Python",
}
