"""The pipeline of the chapter: one source per section, four notebooks out of it, one page out of those."""

FRAMEWORKS = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "mxnet": "MXNet"}
MODULES = {"pytorch": "torch", "tensorflow": "tensorflow", "jax": "jax", "mxnet": "mxnet"}


class BookError(Exception):
    """What went wrong, where, and how to mend it: lines for the user, who sees no traceback."""
