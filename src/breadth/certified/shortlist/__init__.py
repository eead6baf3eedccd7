"""The certified solver for sharp similarity and for constraints, on a shortlist of the most relevant rows.

For an even sharpness no similarity is negative, so relevance alone bounds what a row outside the shortlist can be
worth. The shortlist grows until that bound says that no row outside matters (`search.py`); what it asks of the
collection are plain searches. With the paper's similarity (sharpness 1) and constraints, the collection is searched for
rows that would improve the set or the bound instead (`columns.py`).

    solve.py     from the problem to the selection
    search.py    grow table and shortlist until nothing outside matters
    columns.py   the same by column generation, for the paper's similarity with constraints
    frontier.py  many θ on one shortlist
"""
