"""Coverage: how much of the relevant material a few chosen passages stand for.

    C(S) = Σ_t ω_t max_{i∈S} s_it

The targets t are the passages most relevant to the query, and ω is a probability over them: the more relevant a target,
the larger its weight. s_it in [0, 1] says how well passage i stands for target t: it is a power of their cosine. So C
is the share of the relevant material that the set S stands for: 0 is nothing, 1 is all of it.

C never falls when a passage is added, and each further passage adds less (C is monotone and submodular).

    worth.py      ω, s and the matrix ω_t s_it that everything else works on; C of a set
    search.py     a good set: greedy, then exchanges
    dual.py       an upper bound on C of every set of that size
    smallest.py   how few passages reach a given share
"""
