"""The optional agent on hosts: it runs the commands that collectors declare, and sends their answers over the bus.

`truerail agent build` makes one file of this room. It needs Python 3.8 and its standard library alone, so no other
room of truerail is imported here. It takes no command from the bus: it sends, and sends again.
"""
