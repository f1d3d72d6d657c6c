"""Plan files to and from `Plan`, faults in plans, plans inferred from a fabric, and the key figures of a plan."""

from truerail.files.problems import PlanError, Problem
from truerail.plans.csv_plans import dump_csv
from truerail.plans.dot import dump_dot
from truerail.plans.drawing import draw_svg
from truerail.plans.inference import Inference, infer
from truerail.plans.linting import lint
from truerail.plans.plan_files import load, loads
from truerail.plans.plan_yaml_write import dump_yaml
from truerail.plans.shape import describe
from truerail.plans.starting import new_plan

__all__ = [
    "Inference",
    "PlanError",
    "Problem",
    "describe",
    "draw_svg",
    "dump_csv",
    "dump_dot",
    "dump_yaml",
    "infer",
    "lint",
    "load",
    "loads",
    "new_plan",
]
