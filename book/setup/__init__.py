"""Virtual environments, kernels and programs, before anything is installed: it needs the standard library only.

That holds too for what it imports of d2l_lab, and a test keeps it so.
"""
