"""A shortlist: the most relevant rows of a collection that the constraints allow, held in memory.

`fetch.py` asks for it; `table.py` holds its similarities and rules, and picks and improves sets on it; `bound.py` says
what no allowed set can exceed. For an even
sharpness no similarity is negative, so relevance alone bounds what any row outside the shortlist can be worth
(`Table.supply`): a shortlist that is long enough stands for the whole collection.
"""
