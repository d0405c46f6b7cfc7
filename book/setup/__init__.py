"""Environments, kernels and programs: with what it imports of d2l_lab, it needs the standard library only."""
