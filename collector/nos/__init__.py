"""The forms that one network operating system prints, a file for each: recognised, read, and refused if cut."""
