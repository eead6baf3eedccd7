"""`python -m benchmarks shards`: a matrix over several workers, measured on one machine and simulated on many.

run.py        starts the measurements, each in a process of its own, and writes the page
workers.py    rounds of Ray, and of Dask for comparison, with 1, 2 and 4 workers; what the driver needs for many
scans.py      scans of one shard and the sizes of its messages, without any cluster
simulate.py   100 million and a billion rows on many machines, from these figures
page.py       docs/benchmarks/shards.md
"""
