"""Many findings to few causes, with the fewest physical moves.

The wiring gives every cable a planned and an actual place. The engine finds the shortest explanation that turns the
actual places into the planned ones:

1. hosts whose topology says that their NICs carry another name than planned (`nic_order`): nothing to move;
2. swapped labels of hosts and switches, crossed bundles (`relabel`): all wrong cables vote, the relabelling with the
   highest gain is applied, and the vote is repeated;
3. blocks of ports that are off by k (`shift`);
4. the rest are cables in each other's places: cycles and paths (`observed_links.chains`).

A cable that is not seen is never moved: the evidence decides between link down, unread and unknown (`absent`). Every
step is linear in cables, except for sorting. The result depends on the set of facts, not on their order: the plan's
order breaks ties. `steps` has the steps in their order (`truerail why ID --trace` shows what each of them took);
`explain` gives the findings to the causes, `lasting` keeps those of load that only scatter.
"""

from truerail.causes.explain import explain, trace
from truerail.causes.lasting import explain_lasting

__all__ = ["explain", "explain_lasting", "trace"]
