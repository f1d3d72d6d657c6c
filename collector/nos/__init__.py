"""The forms that one network operating system prints, a file for each: recognised, read, and refused if cut.

`port_is_json` tells whether an answer has counters of ports as JSON, `port_from_json` reads them; likewise `neighbors`,
`pfc`, `queue` and `settings`, and `text`, `table`, `xml` and `model`.
"""
