"""What the modules of the four frameworks hand on as it is: these names have no native part."""

from .animator import Animator
from .claims import ClaimError, claim
from .data import DigitPictures
from .launch import Job, free_ports, hand_back, launch
from .machine import vector_bits
from .pinned import pinned_threads
from .plotting import plot, set_axes, set_figsize, use_svg_display
from .scheduling import as_spans, execute, makespan, schedule
from .specifications import specifications
from .storage import open_direct
from .timelines import Span, timeline
from .timing import Benchmark, Measurement, Timer, compare, measure, report
from .training import Accumulator

__all__ = [
    "Timer",
    "Benchmark",
    "Measurement",
    "measure",
    "compare",
    "report",
    "ClaimError",
    "claim",
    "launch",
    "Job",
    "hand_back",
    "free_ports",
    "use_svg_display",
    "set_figsize",
    "set_axes",
    "plot",
    "Animator",
    "Span",
    "timeline",
    "schedule",
    "makespan",
    "execute",
    "as_spans",
    "Accumulator",
    "DigitPictures",
    "specifications",
    "open_direct",
    "pinned_threads",
    "vector_bits",
]
