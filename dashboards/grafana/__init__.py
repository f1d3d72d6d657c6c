"""Grafana dashboards as code: what every board is built with. The boards themselves stand in `boards/`.

Written in the classic schema 42, which Grafana 10 to 13 load; the kit would rather have the one that only 12 and later
know, and says so on import.
"""

import warnings

with warnings.catch_warnings():  # the modules that warn are imported here first
    warnings.filterwarnings("ignore", message="Prefer using dashboardv2.Dashboard", category=DeprecationWarning)
    from grafana_foundation_sdk.builders import dashboard as _classic  # noqa: F401  imported for its warning
    from grafana_foundation_sdk.builders import prometheus as _prometheus  # noqa: F401  imported for its warning
