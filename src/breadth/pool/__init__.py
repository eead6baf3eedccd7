"""Dense mathematics on a small block of rows held in memory: nothing here asks an oracle."""
