"""Levers: changes to a training step, promised before they are made, and kept if they deliver."""
