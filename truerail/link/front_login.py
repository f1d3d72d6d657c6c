"""Whether a login is one of a front: asked once, before a front begins."""

import asyncio

from truerail.errors import BusError
from truerail.link.nats_link import ANSWER_SECONDS, Bus, BusAddress
from truerail.link.rights_check import answered
from truerail.link.subjects import Subjects


async def front_login(address: BusAddress, subjects: Subjects) -> None:
    """Raises BusError if the bus cannot be reached, refuses the login, or gives it no right to the fabric's view."""
    bus = Bus(address, "truerail front", subjects.front_inbox)
    await bus.open()
    try:
        await bus.client.subscribe(subjects.view)
        await bus.asked(asyncio.wait_for(answered(bus.client), ANSWER_SECONDS))
        if bus.problem:
            key = f"{address.creds} is" if address.creds else "a connection without --creds is"
            raise BusError(
                f"bus {address.url}: {key} no front's login of the fabric {subjects.fabric!r}: {bus.problem}; "
                "`truerail bus init` makes front.nk"
            )
    finally:
        await bus.close()
