"""The default method: one loop, one block solver, and a proof.

loop.py       the way of a query: pool, solve the block, price what is outside, take in what matters
pool.py       the rows in memory, and how they are fetched
block.py      the rows of the pool that the core works on, with their pair costs and rules
pricing.py    does a row outside matter? By relevance, or by direction
prove.py      bring in every row that can be in a better set, where these are few, and decide
frontier.py   many θ on one pool; a relevance to keep; the knee
effort.py     the constants that trade time for quality
"""
