"""The forms that one network operating system prints, a file for each: recognised, read, and refused if cut.

`port_from_json` reads the counters of ports in a document, and returns None for one of another form; likewise `pfc`,
`queue` and `settings`, and `text`, `table` and `model`. Of `neighbors`, `lldp_switch` knows the form.
"""
