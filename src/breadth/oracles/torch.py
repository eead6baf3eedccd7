"""An exact oracle over a PyTorch tensor, on any device: the set-up of the paper (extra `torch`).

Rows are stored in the precision they come in. Scores are computed in float32, chunk by chunk, so `top` misses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.checks import UNIT_TOLERANCE, check_count, check_lengths, check_relevance, check_vectors
from breadth.errors import InputError, MissingExtraError

_CHUNK_NUMBERS = 1 << 26
"""Numbers of the collection that are multiplied at a time: 256 MiB in float32."""
_BFLOAT_TOLERANCE = 4e-3
"""How far from 1 the length of a bfloat16 row may be: its numbers are rounded to eight bits."""
_HEADROOM = 0.8
"""The share of a device's free memory that the rows may take."""


class TorchOracle:
    """Exact search over an (n, d) tensor or array of unit rows: float32, float16 or bfloat16 (float64 becomes float32).

    device    where the products are computed: "cuda", "cuda:1", "mps" or "cpu". The default is the device of the
              tensor; for an array it is a GPU if there is one. Rows that fit the free memory of the device stay there.
              Otherwise every search sends them there chunk by chunk.
    dtype     the precision in which the rows are stored, e.g. torch.float16. The default is their own.
    chunk     the number of rows that are multiplied at a time. The default is 64 million numbers.
    """

    exact = True

    def __init__(self, vectors: Any, device: Any = None, dtype: Any = None, chunk: int | None = None) -> None:
        self._torch = torch = _import_torch()
        tensor = vectors if isinstance(vectors, torch.Tensor) else torch.from_numpy(_writeable_array(vectors))
        if tensor.ndim != 2 or 0 in tensor.shape:
            raise InputError(
                "vectors must be a 2-D tensor (rows, dimensions) with at least one row and one dimension, "
                f"got shape {tuple(tensor.shape)}"
            )
        allowed = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
        wanted = tensor.dtype if dtype is None else dtype
        for name, seen in (("vectors", tensor.dtype), ("dtype", wanted)):
            if seen not in allowed:
                raise InputError(f"{name} must be float32, float16, bfloat16 or float64, got {seen}")
        wanted = torch.float32 if wanted == torch.float64 else wanted
        self._device = torch.device(device if device is not None else _default_device(torch, vectors))
        self._chunk = check_count(chunk, "chunk") if chunk is not None else max(1, _CHUNK_NUMBERS // tensor.shape[1])
        self._rows = self._place(tensor.detach().to(wanted))
        self._relevance: Any = None
        self.length_error = self._check_lengths()
        self._mean: Vector | None = None

    @property
    def size(self) -> int:
        return int(self._rows.shape[0])

    @property
    def dim(self) -> int:
        return int(self._rows.shape[1]) + (self._relevance is not None)

    def with_scores(self, scores: npt.ArrayLike) -> TorchOracle:
        """Return an oracle over rows (e_i, s_i), with these relevance scores s. The rows are not checked again."""
        other: TorchOracle = object.__new__(TorchOracle)
        other.__dict__.update(self.__dict__)
        other._relevance, other._mean = check_relevance(scores, self.size), None
        return other

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first."""
        torch, best, ids = self._torch, None, None
        for start, scores in self._score_chunks(directions):
            found, positions = torch.topk(scores, min(m, scores.shape[1]), dim=1)
            positions = positions + start
            if best is not None:
                found, positions = torch.cat((best, found), dim=1), torch.cat((ids, positions), dim=1)
                found, order = torch.topk(found, min(m, found.shape[1]), dim=1)
                positions = torch.gather(positions, 1, order)
            best, ids = found, positions
        assert best is not None
        assert ids is not None
        return ids.cpu().numpy().astype(np.int64), best.cpu().numpy().astype(np.float64)

    def scores(self, directions: Array) -> Array:
        """Return the inner products of all rows with each direction, (b, n)."""
        out: Array = np.empty((len(directions), self.size), np.float32 if self._relevance is None else np.float64)
        for start, scores in self._score_chunks(directions):
            out[:, start : start + scores.shape[1]] = scores.cpu().numpy()
        return out

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids: float32, or float64 with relevance scores."""
        where = self._torch.from_numpy(np.ascontiguousarray(ids)).to(self._rows.device)
        rows: Array = self._rows[where].float().cpu().numpy()
        return rows if self._relevance is None else np.column_stack((rows, self._relevance[ids]))

    def mean(self) -> Vector:
        """Return the mean row. The first call computes it."""
        if self._mean is None:
            total = sum(chunk.sum(dim=0).double().cpu().numpy() for _, chunk in self._chunks())
            mean: Vector = np.asarray(total, dtype=np.float64) / self.size
            self._mean = mean if self._relevance is None else np.append(mean, self._relevance.mean())
        return self._mean

    def _place(self, tensor: Any) -> Any:
        """Move a tensor to the device if there is room for it."""
        if self._device.type == "cuda" and tensor.device != self._device:
            free, _ = self._torch.cuda.mem_get_info(self._device)
            if tensor.numel() * tensor.element_size() > _HEADROOM * free:
                return tensor.contiguous()
        return tensor.to(self._device).contiguous()

    def _chunks(self) -> Iterator[tuple[int, Any]]:
        """Yield the first row number and the float32 rows of every chunk, on the device."""
        for start in range(0, self.size, self._chunk):
            yield start, self._rows[start : start + self._chunk].to(self._device, non_blocking=True).float()

    def _score_chunks(self, directions: Array) -> Iterator[tuple[int, Any]]:
        """Yield the first row number and the scores (b, rows) of every chunk."""
        torch, d = self._torch, self._rows.shape[1]
        inside = torch.from_numpy(np.ascontiguousarray(directions[:, :d], dtype=np.float32)).to(self._device)
        for start, chunk in self._chunks():
            scores = inside @ chunk.T
            if self._relevance is not None:  # added on the CPU: not every device has double precision
                part = directions[:, d:] * self._relevance[start : start + len(chunk)]
                scores = scores.cpu().double() + torch.from_numpy(part)
            yield start, scores

    def _check_lengths(self) -> float:
        """Check that every row is finite and of unit length. Return the largest |‖e_i‖² - 1|."""
        error = 0.0
        tolerance = _BFLOAT_TOLERANCE if self._rows.dtype == self._torch.bfloat16 else UNIT_TOLERANCE
        for start, chunk in self._chunks():
            squared = chunk.square().sum(dim=1).cpu().numpy()
            check_lengths(squared, start, "vectors", tolerance)
            error = max(error, float(np.abs(squared - 1.0).max()))
        return error


def _writeable_array(vectors: Any) -> npt.NDArray[Any]:
    """Check the rows and return an array that a tensor can share: read-only memory is copied."""
    array = check_vectors(vectors, "vectors")
    return array if array.flags.writeable else array.copy()


def _import_torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtraError("torch", "torch") from None
    return torch


def _default_device(torch: Any, vectors: Any) -> Any:
    if isinstance(vectors, torch.Tensor):
        return vectors.device
    return "cuda" if torch.cuda.is_available() else "cpu"
