"""python -m breadth: the command line."""

from breadth.cli import main

main()
