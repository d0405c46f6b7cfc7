"""The laboratory that the chapter works in: instruments and plots, the machine, processes, collectives, exercises.

It imports nothing of `d2l_utils`; only the program that measures the machine works with a framework.
"""
