"""The service's history: lives of findings and causes, changes of links, and people's entries, in SQLite or PostgreSQL.

    journal = open_journal(settings.journal)          # JournalUnusableError: wrong URL, or a newer version's
    lives = Lives(recovery.resolve_after, recovery.flapping_episodes, recovery.flapping_within)
    lives.restore(journal.restore())                  # JournalUnavailableError: retry later, between two rounds
    number = journal.next_number()
    keeper = Keeper(journal, settings.journal.max_queued_rounds, reported)

    changes = lives.update(evaluation, round.cabling)      # each round
    keeper.put(record, changes)                                       # returns at once
    journal.retain(now)                                               # once an hour
    lives.forget(now - settings.journal.retention)
    keeper.close()                                                    # at a graceful stop

`reported` is called from the keeper's thread with a `JournalState` when the journal fails and when it recovers. All
methods of `Journal` wait for the disk: call them from a thread. An empty `url` stores nothing: use `NoHistory` then.
"""

from truerail.journal.keeper import Keeper
from truerail.journal.lives import Lives
from truerail.journal.round_changes import Changes, Memory
from truerail.journal.store import Journal, open_journal

__all__ = ["Changes", "Journal", "Keeper", "Lives", "Memory", "open_journal"]
