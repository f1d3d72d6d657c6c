"""The page of what an alert is about. An alert has labels: the key of its cause or the id of its finding, or rule and
subject.
"""

import re
from urllib.parse import quote

from truerail.views.view import View

_KEY = re.compile(r"[0-9a-f]{12}")


def alerted(view: View, rule: str, subject: str, cause: str = "", finding: str = "") -> str:
    """The path of the page of an alert.

    By the key of a cause or the id of a finding, also past ones, its page; that of its cause where one explains the
    finding by now. By rule and subject the path of the cause's page; without one that of the finding, without one that
    of the device, else `/`.

    A finding of the rule comes first: on the port itself, or on its device, as for rules that compare the ports of one;
    then any other on the port, since an alert on a cable has the name of one rule for several.
    """
    if _KEY.fullmatch(cause):
        return f"/causes/{cause}"
    if _KEY.fullmatch(finding):
        known = view.cause_of(finding)
        return f"/causes/{view.sight.key_of(known)}" if known else f"/findings/{finding}"
    device = subject.partition("/")[0]
    own, beside = view.findings_on([subject]), view.findings_on([device])
    found = next((one for one in (*own, *beside) if one.rule == rule), own[0] if own else None)
    if found is not None:
        return alerted(view, "", "", finding=found.id)
    code = view.device(device)
    if not device or not view.is_planned(code):
        return "/"
    room = "hosts" if view.index.devices.is_host(code) else "switches"
    return f"/{room}/{quote(view.index.devices.names[code], safe='')}"
