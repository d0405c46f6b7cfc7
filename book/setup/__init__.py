"""Virtual environments, kernels and programs. Standard library only: it runs before anything is installed."""
