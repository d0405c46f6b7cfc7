"""The framework that a process works with."""

from types import ModuleType

import pytest

from d2l_utils import framework as module


@pytest.mark.parametrize(("names", "said"), [((), "none"), (("jax", "torch"), "d2l_utils.jax and d2l_utils.torch")])
def test_without_one_and_only_one_framework_an_error_says_which_were_imported(names, said, monkeypatch):
    monkeypatch.setattr(module, "_imported", [])
    for one in [ModuleType(f"d2l_utils.{name}") for name in names] * 2:  # a module that is reloaded registers again
        module.register(one)
    with pytest.raises(RuntimeError, match=f"imported one framework of d2l_utils, not {said}$"):
        module.framework()
