"""The loops that numba compiles, by what they are for. `breadth.kernels.numba` gathers them.

Numba looks at the file of a function alone to see whether the code that it keeps is still good, but compiled functions
call those of other files. So `breadth.kernels.compiling` forgets all kept code when any of these files changes.
"""
