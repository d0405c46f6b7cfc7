"""Each framework's modules provide what the protocols ask for: mypy compares them in `make lint`; nothing runs."""

from d2l_lab.protocol import Framework
from d2l_utils import jax, mxnet, tensorflow, torch
from d2l_utils.d2l_names import jax as jax_names
from d2l_utils.d2l_names import mxnet as mxnet_names
from d2l_utils.d2l_names import tensorflow as tensorflow_names
from d2l_utils.d2l_names import torch as torch_names
from d2l_utils.d2l_names.protocol import D2LNames

folder: Framework = torch
folder = tensorflow
folder = jax
folder = mxnet

names: D2LNames = torch_names
names = tensorflow_names
names = jax_names
names = mxnet_names
