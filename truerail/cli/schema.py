"""`truerail schema`: JSON Schemas of the files that people write, for the completion and checks of editors."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from truerail.cli import terminal_output


class SchemaOf(StrEnum):
    """What has a schema: files that people write, and the message that a webhook receives."""

    PLAN = "plan"
    INVENTORY = "inventory"
    SETTINGS = "settings"
    NOTIFICATION = "notification"


def schema(
    of: Annotated[SchemaOf, typer.Argument(metavar="plan|inventory|settings|notification", help="What to describe.")],
) -> None:
    """Print the JSON Schema (draft 2020-12) of a plan, an inventory or the service's settings in YAML, or of the JSON
    that a webhook receives.

    An editor with the YAML language server completes keys, explains them and marks mistakes once the first line of a
    file names the schema: `# yaml-language-server: $schema=plan.schema.json`.
    """
    import json

    terminal_output.say(json.dumps(_schema(of), indent=2, ensure_ascii=False))


def _schema(of: SchemaOf) -> dict[str, Any]:
    if of is SchemaOf.SETTINGS:
        from truerail.service.settings import settings_schema

        return settings_schema()
    if of is SchemaOf.NOTIFICATION:
        from truerail.service.notify.notification import notification_schema

        return notification_schema()
    if of is SchemaOf.PLAN:
        from truerail.plans.plan_keys import plan_schema

        return plan_schema()
    from truerail.inventory.inventory_keys import inventory_schema

    return inventory_schema()
