"""What the chapter's sections share and do not teach: `from d2l_utils import torch as d2l`, or another framework.

The package itself imports nothing, so each reader needs only one framework.
"""
