"""Many findings to few causes, with the fewest physical moves.

The wiring gives every cable a wanted place and a seen place. The engine asks what, said in the fewest words, makes
the seen the wanted:

1. hosts whose topology says that their NICs carry another name than planned (`nic_order`): nothing to move;
2. exchanged labels of hosts and switches, crossed bundles (`relabel`): a vote over all wrong cables, the highest
   gain first, applied, and the vote held again;
3. blocks of ports that are off by k (`shift`);
4. what then is left are cables in each other's places: cycles and paths (`cycles`).

A cable that is not seen is never moved: what is known of it decides between link down, unread and unknown (`absent`).
Every step is linear in cables, but for sorting. The result depends on the set of facts, not on their order: ties
are broken by the plan's order. `explain` puts the words together.
"""

from truerail.causes.explain import explain

__all__ = ["explain"]
