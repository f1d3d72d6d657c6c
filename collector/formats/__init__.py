"""The forms of answers that more than one system prints, and the words in them. Forms of one system are in `nos`."""
