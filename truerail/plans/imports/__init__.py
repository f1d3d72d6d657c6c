"""Plans as people have them: cable lists of other tools, recognized by their content."""

from truerail.plans.imports.importing import Imported, import_plan, import_text
from truerail.plans.imports.recognized import NAMES, SUFFIXES

__all__ = ["NAMES", "SUFFIXES", "Imported", "import_plan", "import_text"]
