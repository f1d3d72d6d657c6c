"""The service: polls on a schedule, evaluates off the event loop, publishes, records. The web uses
`ServiceAPI` only.
"""
