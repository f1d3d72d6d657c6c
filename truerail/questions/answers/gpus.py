"""The GPUs of a host by rail."""

from collections.abc import Collection

import numpy as np

from truerail.views.view import View


def gpus_of(view: View, host: int, rails: Collection[int] | None = None) -> tuple[int, ...]:
    """The GPUs of a host whose rail is one of these (any for None): GPU g of G belongs to the host's rail number
    g * R // G. If the plan does not give the number of GPUs, it is one for each rail; hosts without rails have none.
    """
    own = np.unique(view.layout.rail[view.layout.host_cables_of(host)])
    of_host: list[int] = own[own >= 0].tolist()
    reported = view.layout.devices[host].gpus
    gpus = len(of_host) if reported is None else reported
    if rails is None or not of_host:
        return tuple(range(gpus)) if rails is None else ()
    return tuple(gpu for gpu in range(gpus) if of_host[gpu * len(of_host) // gpus] in rails)
