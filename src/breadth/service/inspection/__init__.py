"""A query looked at closely: the chosen set beside others, the candidates on a plane, the curve. The page shows it.

study.py       a query whose searches are remembered, so that the next set for it needs no search
projection.py  rows on a plane
inspect.py     what there is to see of a query
"""
