"""What changes in an LLDP neighbour's entry with each answer: its age, and the rest of its time to live.

An age is a fact only where it says how long the neighbour has been there: of two neighbours on one port the younger one
is the present one. So it is left out of a digest from ten minutes on. A neighbour that went and came back between two
rounds, which are at most five minutes apart (`transport/kept_answers.py`), has a younger age, which is compared.

Sources: lldpd's `src/client/display.c` (`0 day, 00:01:23`), answers of real daemons and switches. EOS'
`lastContactTime`, `Time remaining` of NX-OS and IOS, and Junos' `lldp-age` are times since or until a frame.
"""

_OLD_SPAN = rb"(?!0 days?, 00:0)\d+ days?, \d\d:\d\d:\d\d"
_OLD_SECONDS = rb"(?:[6-9]\d\d|\d{4,})"

LLDPD = {
    b'"age"': rb': ?"?(?:' + _OLD_SPAN + rb"|" + _OLD_SECONDS + rb'(?=[",\s}]))',
    b' age="': _OLD_SPAN + rb'(?=")',
    b".age=": _OLD_SPAN + rb"(?=\r?\n)",
    b", Time: ": _OLD_SPAN + rb"(?=\r?\n)",
}
"""lldpd's JSON, also NVUE's and OpenConfig's, its XML, its keyvalue and its plain form."""
OF_SWITCHES = {
    **LLDPD,
    b"Time:": rb"\s+" + _OLD_SPAN + rb"(?=\r?\n)",
    b'"lastContactTime"': rb": ?[\d.]+",
    b'"ttl"': rb': ?"?\d+"?(?=, ?"system_capability")',
    b"Time remaining: ": rb"\d+(?= seconds)",
    b"Information valid for next ": rb"\d+ seconds(?:\r?\nTime since last information change of this neighbor: "
    rb"[^\r\n]+)?(?=\r?\n)",
    b'"lldp-age"': rb'\s*:\s*\[\s*\{\s*"data"\s*:\s*"\d+"',
    b"<lldp-age>": rb"\d+",
}
"""The same, and NVUE's text, EOS' JSON, NX-OS' JSON, NX-OS and IOS, OS10, Junos' JSON and XML. EOS' text has two ages
for each neighbour, and is parsed each time: its JSON is asked for first.
"""
