"""The questions of on-call, each answered by one function from what the service shows (or from a capture).

`where`, `job`, `blast`, `path`, `diff`, `why`, `timeline`, and the views of one device and of the whole fabric. The
command line, the API and the page show the same answers (`answers`); none of them computes one itself.
"""
