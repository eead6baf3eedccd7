"""The HTTP service (extra `service`) and its clients (extra `client`).

`running.py` runs it in one process, `workers.py` in several, which tell each other what they count on `board.py`.
`app.py` joins its parts.

    a request
      │  observing.py     gives it an id, counts it (metrics.py) and logs it (logs.py)
      │  guard.py         host and token
      │  limits.py        how large a request may be, and what it may ask for
      ▼
    routes/*.py           one file for each group of routes, listed in routes/registry.py
    schemas/*.py          what requests and answers look like: the OpenAPI description is made from it
      │  failures.py      turns errors into answers
      ▼
    batching.py           joins queries that arrive together into one search
    shelf.py              holds the collection that is served, and replaces it without downtime
      ▼
    collections/*.py      an index, or an engine

`client/` imports none of this.
"""
