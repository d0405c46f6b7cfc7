"""A rack in one machine: hosts with addresses and limited links of their own, made of Linux's network namespaces."""
