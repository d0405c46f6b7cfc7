"""The pipeline of the chapter: one source per section, four notebooks out of it, one page out of those."""

import sys

FRAMEWORKS = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "mxnet": "MXNet"}
MODULES = {"pytorch": "torch", "tensorflow": "tensorflow", "jax": "jax", "mxnet": "mxnet"}

# nbformat would have jsonschema build 39 grammars of addresses with it, which takes a second; notebooks hold none.
sys.modules.setdefault("rfc3987_syntax", None)


class BookError(Exception):
    """What went wrong, where, and how to mend it: lines for the user, who sees no traceback."""

    status = 1  # to exit with
