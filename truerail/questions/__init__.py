"""On-call questions: one answer each, for the command line, the API and the page."""
