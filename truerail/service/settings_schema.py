"""The JSON Schema of `truerail.yaml`, from the models that read it."""

from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from truerail.files.yaml_keys import DIALECT
from truerail.service.durations import as_written
from truerail.service.settings import Settings


class _ForEditors(GenerateJsonSchema):
    """Without generated titles; defaults as the file writes them."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """A property's name and description are enough."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """A default that is a single value; those of a section are shown at its own properties."""
        inner = self.generate_inner(schema["schema"])
        default = as_written(schema.get("default"))
        return {**inner, "default": default} if isinstance(default, str | int | bool) else inner


def settings_schema() -> dict[str, Any]:
    """The JSON Schema of the settings. What a model checks over several values, only `serve --check` finds."""
    schema = Settings.model_json_schema(schema_generator=_ForEditors)
    return {"$schema": DIALECT, **schema, "title": "truerail settings"}
