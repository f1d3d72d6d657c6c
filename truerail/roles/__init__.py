"""The service as processes: a parent that only watches, a judge that polls, evaluates and writes, and a front that
answers.

    truerail serve ── judge ── view (SQLite file) ─► front ─► page, API, metrics, events
                        ▲                              │
                        └──── link (Unix socket) ◄─────┘   what the view does not hold, and every write
"""
