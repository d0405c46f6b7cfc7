"""The laboratory that the chapter works in: the machine, processes, collectives, exercises.

It imports nothing of `d2l_utils` but the clocks; only the program that measures the machine works with a framework.
"""
