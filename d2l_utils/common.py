"""Framework-independent names, re-exported by all four modules."""

from typing import Any

from d2l_utils.claims import ClaimError, claim
from d2l_utils.data import Accumulator, DigitImages
from d2l_utils.exercises.checks import check
from d2l_utils.jobs.job import Job, free_ports, launch, return_value
from d2l_utils.levers import Levers
from d2l_utils.machine.datasheets import specifications
from d2l_utils.plots.animator import Animator
from d2l_utils.plots.curves import plot, set_axes, set_figsize, use_svg_display
from d2l_utils.plots.timeline import Span, timeline
from d2l_utils.predictions import predict
from d2l_utils.scheduling import as_spans, execute, makespan
from d2l_utils.timing import Benchmark, Measurement, Timer, compare, measure, report

__all__ = [
    "Timer",
    "Benchmark",
    "Measurement",
    "measure",
    "compare",
    "report",
    "ClaimError",
    "claim",
    "check",
    "predict",
    "Levers",
    "launch",
    "Job",
    "return_value",
    "free_ports",
    "use_svg_display",
    "set_figsize",
    "set_axes",
    "plot",
    "Animator",
    "Span",
    "timeline",
    "makespan",
    "execute",
    "as_spans",
    "Accumulator",
    "DigitImages",
    "specifications",
]


def arrays_in(structure: Any, kind: type | tuple[type, ...]) -> list[Any]:
    """Return the arrays of type `kind` in nested lists, tuples and dictionaries; anything else in them is ignored.

    Raises
    ------
    TypeError
        If `structure` holds no such array.
    """
    found = [leaf for leaf in _leaves(structure) if isinstance(leaf, kind)]
    if not found:
        raise TypeError(f"there is no array of this framework in {type(structure).__name__} {structure!r:.60}")
    return found


def _leaves(structure: Any) -> list[Any]:
    if isinstance(structure, dict):
        parts = list(structure.values())
    elif isinstance(structure, (list, tuple)):
        parts = list(structure)
    else:
        return [structure]
    return [leaf for part in parts for leaf in _leaves(part)]
