"""What PyTorch's operations do in a step, for its bill."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

from d2l_lab.instruments.bill import Touched
from d2l_lab.machine.rounds import run as timed
from d2l_lab.protocol import Record, Row

FREE = {"detach", "empty", "empty_like", "empty_strided", "new_empty", "resize_", "_local_scalar_dense", "lift_fresh"}
WRITES = {"zero_", "fill_"}  # read nothing of their first array
GATHERS = {"embedding", "index_select", "gather", "index", "_embedding_bag"}  # read what they need of their first array
SCATTERS = {"index_add_", "scatter_add_", "index_put_", "_index_put_impl_", "scatter_", "scatter_reduce_"}


def recorder(run: Callable[[], object]) -> Callable[[], Record]:
    """Return a function that runs a step, which has run before, and returns what its operations did.

    A dispatch mode counts every call below autograd; the profiler times them, on a GPU by the device's own clock.
    """
    rows, touched, gpu = defaultdict[str, Row](Row), Touched(), torch.cuda.is_available()

    class Counter(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name, given = func.overloadpacket.__name__, kwargs or {}
            out = func(*args, **given)
            if not name.startswith("_record_function"):
                rows[name].add(_flops(func, args, given, out), touched.reaches(_bytes(func, args, given, out)))
            return out

    for _ in range(2):  # in the second step every array was touched before
        rows.clear()
        with Counter():
            run()

    def record() -> Record:
        with torch.profiler.profile() as recorded:
            whole = timed(run, 1)
        found = {name: Row(**vars(row)) for name, row in rows.items()}
        _add_seconds(found, recorded.events(), "self_device_time_total" if gpu else "self_cpu_time_total")
        return Record(whole, found, issued=not gpu)

    return record


def _add_seconds(rows: dict[str, Row], events: Iterable[Any], clock: str) -> None:
    """Add each event's own time to the row of the outermost operation that it is part of; one more has the others."""
    names = {name.strip("_"): name for name in rows} | {name: name for name in rows}
    for event in events:
        found, at = [], event
        while at:
            name = at.name.removeprefix("aten::")
            found += [names[each] for each in (name, name.strip("_").removesuffix("_impl")) if each in names][:1]
            at = at.cpu_parent
        if found or event.name.startswith("aten::"):
            row = rows[found[-1]] if found else rows.setdefault("(others)", Row(1.0, uncounted=1.0))
            row.seconds += getattr(event, clock) / 1e6


def _flops(func: Any, args: Any, kwargs: Any, out: Any) -> float:
    """Return the flops of a call's products: 0 where it has none."""
    name = func.overloadpacket.__name__
    if name.startswith(("mkldnn_rnn_layer", "_cudnn_rnn")) and name != "_cudnn_rnn_flatten_weight":
        weights = args[1] if isinstance(args[1], (list, tuple)) else args[1:3]
        passes = args[0].numel() // args[0].shape[-1] * (2 if "backward" in name else 1)
        return 2.0 * passes * sum(w.numel() for w in weights if w.dim() > 1)
    if name.startswith("_scaled_dot_product_flash_attention_for_cpu"):
        backward, L = "backward" in name, args[0].shape[-2]
        attention = sdpa_backward_flop_count if backward else sdpa_flop_count
        flops = float(attention(*(x.shape for x in args[: 4 if backward else 3])))
        causal = args[7 if backward else 4 :][:1] or (kwargs.get("is_causal", False),)
        return flops * (L + 1) / (2 * L) if causal[0] else flops
    count = flop_registry.get(func.overloadpacket)
    return float(count(*args, **kwargs, out_val=out)) if count else 0.0


def _bytes(func: Any, args: Any, kwargs: Any, out: Any) -> dict[Any, float]:
    """Return the bytes of each array that a call reads or writes, twice those of one that it changes."""
    name = func.overloadpacket.__name__
    came, made, first = _sizes((args, kwargs)), _sizes(out), _sizes(args[:1])
    if func.is_view or name in FREE | WRITES:
        return first if name in WRITES else {}
    sparse = any(isinstance(x, torch.Tensor) and x.layout != torch.strided for x in args)
    if name in GATHERS | SCATTERS or sparse and name == "add_":  # of the first array, only what the others ask for
        part = max((made if name in GATHERS else _sizes(args[1:])).values(), default=0.0)
        return made | came | dict.fromkeys(first, part * (1 if name in GATHERS else 2))
    notes = [each.alias_info for each in func._schema.arguments]
    changed = [array for array, note in zip(args, notes, strict=False) if note and note.is_write]
    return made | came | {key: 2 * size for key, size in _sizes(changed).items()}


def _sizes(tree: Any) -> dict[Any, float]:
    """Return the bytes of the arrays in a tree by where they lie."""
    found = {}
    for x in tree_leaves(tree):
        if isinstance(x, torch.Tensor) and x.layout == torch.strided:
            found[x.data_ptr()] = min(float(x.numel() * x.element_size()), float(x.untyped_storage().nbytes()))
        elif isinstance(x, torch.Tensor):
            found[id(x)] = float(x._nnz() * x._values().shape[1:].numel() * x.element_size())
    return found
