"""Plans as people have them: cable lists of other tools, recognized by their content."""

from truerail.plans.imports.importing import NAMES, SUFFIXES, Imported, import_plan, import_text

__all__ = ["NAMES", "SUFFIXES", "Imported", "import_plan", "import_text"]
