"""A front of a bus, as a service of its own: URL FABRIC FOLDER [CREDS]."""

import sys
from pathlib import Path

from tests.bus_judge_process import opened
from tests.watched_service import settings_for
from truerail.link.nats_link import BusAddress
from truerail.link.subjects import Subjects
from truerail.roles.front_bus import JudgePlace
from truerail.roles.service import serve
from truerail.service.logs import set_up
from truerail.service.settings import Http


def main() -> None:
    url, fabric, folder, *login = sys.argv[1:]
    address, subjects = BusAddress(url, *map(Path, login)), Subjects(fabric)
    settings = settings_for(Path(folder)).model_copy(update={"fabric": fabric, "http": Http(port=0)})
    set_up(settings.log)
    serve(settings, JudgePlace(address, subjects, opened))


if __name__ == "__main__":
    main()
