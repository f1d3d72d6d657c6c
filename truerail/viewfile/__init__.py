"""The view: what the judge has published, in a SQLite file that the front processes read.

One transaction is one publication. A part that did not change is not written again, and a front decodes only the parts
that did. The file holds nothing of its own: the judge rebuilds it, so it is written without waiting for the disk.
"""
