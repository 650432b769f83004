"""How likely data is under a machine."""
