"""A judge of a bus, with its front, as a service of its own: URL FABRIC JOURNAL FOLDER NAME [CREDS]."""

import asyncio
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

from tests.bus_timing import LEASE, SLOW
from tests.fake_fleet import FakeFleet
from tests.poller_fabric import simulation, zoned_work
from tests.watched_service import settings_for
from truerail.link.nats_link import BusAddress
from truerail.link.subjects import Subjects
from truerail.poller.bus_polling import BusPolling
from truerail.roles import service
from truerail.roles.judge import judge
from truerail.roles.post import Post
from truerail.service.leadership import Leadership
from truerail.service.logs import set_up
from truerail.service.plans import PlanInForce
from truerail.service.settings import Http


def opened(url: str) -> None:
    """Says where the front is."""
    sys.stdout.write(f"open {url}\n")
    sys.stdout.flush()


def main() -> None:
    url, fabric, journal, folder, name, *creds = sys.argv[1:]
    made, address, subjects = simulation(), BusAddress(url, *map(Path, creds)), Subjects(fabric)
    settings = settings_for(Path(folder), url=journal)
    schedule = settings.schedule.model_copy(update={"poll_timeout": timedelta(seconds=2)})
    settings = settings.model_copy(update={"fabric": fabric, "http": Http(port=0), "schedule": schedule})
    set_up(settings.log)

    async def judging(post: Post) -> None:
        await judge(
            settings, zoned_work().targets, PlanInForce(lambda: made.plan, made.plan), FakeFleet(made), post,
            ready=opened, stop=asyncio.Event(),
            polling=partial(BusPolling, address=address, subjects=subjects, timing=SLOW),
            leading=lambda: Leadership(address, subjects, name, LEASE),
        )  # fmt: skip

    service.NICE = 0  # on a busy machine a nice judge would wait for whatever else is tested
    service.serve(settings, judging)


if __name__ == "__main__":
    main()
