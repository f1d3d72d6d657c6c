"""Every board, in the order in which a reader goes through them."""

from typing import Final

from dashboards.grafana.boards import congestion, day1, ecmp, host, jobs, overview, rails, service, switch
from dashboards.grafana.layout import Board

BOARDS: Final[tuple[Board, ...]] = (
    overview.board(),
    day1.board(),
    rails.board(),
    congestion.board(),
    ecmp.board(),
    jobs.board(),
    host.board(),
    switch.board(),
    service.board(),
)
