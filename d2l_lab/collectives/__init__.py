"""Messages between processes, all-reduces out of them, and their cost as formulas and as a simulation."""
