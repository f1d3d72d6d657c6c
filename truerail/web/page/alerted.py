"""The page of what an alert is about. An alert has labels, and no id: those of findings would be without bound."""

from urllib.parse import quote

from truerail.views.view import View


def alerted(view: View, rule: str, subject: str) -> str:
    """The path of the cause's page; without one that of the finding, without one that of the device, else `/`.

    A finding of the rule comes first: on the port itself, or on its device, as for rules that compare the ports of one;
    then any other on the port, since an alert on a cable has the name of one rule for several.
    """
    device = subject.partition("/")[0]
    own, beside = view.findings_on([subject]), view.findings_on([device])
    found = next((one for one in (*own, *beside) if one.rule == rule), own[0] if own else None)
    if found is not None:
        cause = view.cause_of(found.id)
        return f"/causes/{view.sight.key_of(cause)}" if cause else f"/findings/{found.id}"
    code = view.device(device)
    if not device or not view.is_planned(code):
        return "/"
    room = "hosts" if view.index.devices.is_host(code) else "switches"
    return f"/{room}/{quote(view.index.devices.names[code], safe='')}"
