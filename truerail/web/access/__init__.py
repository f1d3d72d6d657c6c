"""Who may see and who may write: authentication, roles, and what a browser is reported both.

door      every request passes it: limits, headers, then the gate
gate      who asks (bearer token, proxy header, session cookie), and whether they may
login     a token becomes a session cookie
caller    what the API asks of a request: `reader(request)`, `operator(request)`
"""

from truerail.web.access.caller import Caller, operator, reader
from truerail.web.access.install import install

__all__ = ["Caller", "install", "operator", "reader"]
