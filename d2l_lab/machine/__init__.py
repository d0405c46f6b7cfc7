"""What the machine is and can do: its profile, measured once, and tables of other devices."""
