"""The routes, one file for each group. `registry.py` lists them."""
