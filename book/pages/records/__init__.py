"""The records of what cells claimed, predicted and measured, as pages show them."""
