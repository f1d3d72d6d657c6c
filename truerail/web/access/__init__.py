"""Read and write access: authentication, roles, and response headers for browsers.

middleware      every request passes it: limits, headers, then the authenticator
authenticator   the caller (bearer token, proxy header, session cookie), and the permission
login           a token becomes a session cookie
caller          the API's dependencies: `reader(request)`, `operator(request)`
"""

from truerail.web.access.caller import Caller, operator, reader
from truerail.web.access.middleware import install

__all__ = ["Caller", "install", "operator", "reader"]
