"""scikit-learn: a small, varied subset of a data matrix.

In your clone of breadth: pip install '.[sklearn]'
"""

from pathlib import Path

import numpy as np

from breadth.integrations.sklearn import BreadthSelector

vectors = np.load(Path(__file__).parent / "data/wikipedia/passages.f16.npy").astype(np.float32)

selector = BreadthSelector(n_select=10).fit(vectors)
print("rows:", selector.indices_.tolist())
print(f"mean squared cosine of two chosen rows {selector.selection_.redundancy:.4f}")
unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
print(f"of any two rows {((unit @ unit.T) ** 2)[np.triu_indices(len(unit), 1)].mean():.4f}")
print("cosines of every row with the subset:", selector.transform(vectors).shape)
