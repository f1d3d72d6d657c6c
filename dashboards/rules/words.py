"""Pieces of annotations, as templates that Prometheus and Grafana both understand."""

from typing import Final

SUBJECT: Final = (
    "{{ if $labels.nic }}{{ $labels.host }}/{{ $labels.nic }} (rail {{ $labels.rail }})"
    "{{ else if $labels.host }}{{ $labels.host }}{{ if $labels.rail }} (rail {{ $labels.rail }}){{ end }}"
    "{{ else if $labels.switch }}{{ $labels.switch }}{{ if $labels.rail }} (rail {{ $labels.rail }}){{ end }}"
    "{{ else }}a device that the plan does not know{{ end }}"
)
"""Who a finding is about."""
CABLE: Final = (
    "{{ if $labels.nic }} Its cable belongs in {{ $labels.switch }}/{{ $labels.switch_port }}"
    "{{ if $labels.rack }} and starts in rack {{ $labels.rack }}{{ end }}.{{ end }}"
)
"""The cable, where there is one."""
ASK: Final = (
    "{{ if $labels.nic }} `truerail where {{ $labels.host }}/{{ $labels.nic }}` shows all that is known."
    "{{ else if $labels.host }} `truerail where {{ $labels.host }}` shows all that is known."
    "{{ else if $labels.switch }} `truerail where {{ $labels.switch }}` shows all that is known.{{ end }}"
)
"""Where to read on."""
