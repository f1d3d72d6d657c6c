"""The exception for an unusable plan file."""

from truerail.files.problems import FileError


class PlanError(FileError):
    """A plan file that cannot be used. `str()` has one line for each of `problems`."""
