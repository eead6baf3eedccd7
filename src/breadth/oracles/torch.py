"""The exact oracle over a PyTorch tensor, on any device: the set-up of the paper (extra `torch`).

Rows are stored in the precision they come in; scores are computed in float32, chunk by chunk, so `top` misses nothing.
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
"""Numbers of the collection handled at a time: 256 MiB in float32."""
_BFLOAT_TOLERANCE = 4e-3
"""How far from 1 the length of a row may be that was rounded to eight bits."""
_HEADROOM = 0.8
"""The share of a device's free memory that rows may take."""


class TorchOracle:
    """Exact search over an (n, d) tensor or array of unit rows: float32, float16 or bfloat16 (float64 becomes float32).

    device    where the products are computed: "cuda", "cuda:1", "mps", "cpu"; by default the tensor's, or a GPU if
              there is one. Rows stay on the device if they fit its free memory, else they go there chunk by chunk.
    dtype     store the rows in this precision, e.g. torch.float16; by default as they come.
    chunk     rows multiplied at a time; by default 64 million numbers.
    """

    exact = True

    def __init__(self, vectors: Any, device: Any = None, dtype: Any = None, chunk: int | None = None) -> None:
        self._torch = torch = _torch()
        tensor = vectors if isinstance(vectors, torch.Tensor) else torch.from_numpy(_owned(vectors))
        if tensor.ndim != 2 or 0 in tensor.shape:
            raise InputError(f"vectors must be a 2-D tensor (rows, dimensions), got shape {tuple(tensor.shape)}")
        allowed = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
        wanted = tensor.dtype if dtype is None else dtype
        for name, seen in (("vectors", tensor.dtype), ("dtype", wanted)):
            if seen not in allowed:
                raise InputError(f"{name} must be float32, float16, bfloat16 or float64, got {seen}")
        wanted = torch.float32 if wanted == torch.float64 else wanted
        self._device = torch.device(device if device is not None else _default_device(torch, vectors))
        self._chunk = check_count(chunk, "chunk") if chunk is not None else max(1, _CHUNK_NUMBERS // tensor.shape[1])
        self._rows = self._placed(tensor.detach().to(wanted))
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
        """The same rows, not checked again, with relevance from outside as one more coordinate."""
        other: TorchOracle = object.__new__(TorchOracle)
        other.__dict__.update(self.__dict__)
        other._relevance, other._mean = check_relevance(scores, self.size), None
        return other

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """The m best rows for each direction, largest first."""
        torch, best, ids = self._torch, None, None
        for start, scores in self._scored(directions):
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
        """Inner products of all rows with each direction, (b, n)."""
        out: Array = np.empty((len(directions), self.size), np.float32 if self._relevance is None else np.float64)
        for start, scores in self._scored(directions):
            out[:, start : start + scores.shape[1]] = scores.cpu().numpy()
        return out

    def rows(self, ids: Ids) -> Array:
        """The rows with these ids, as float32 (float64 with outside scores)."""
        where = self._torch.from_numpy(np.ascontiguousarray(ids)).to(self._rows.device)
        rows: Array = self._rows[where].float().cpu().numpy()
        return rows if self._relevance is None else np.column_stack((rows, self._relevance[ids]))

    def mean(self) -> Vector:
        """The mean row, computed at the first call."""
        if self._mean is None:
            total = sum(chunk.sum(dim=0).double().cpu().numpy() for _, chunk in self._chunks())
            mean: Vector = np.asarray(total, dtype=np.float64) / self.size
            self._mean = mean if self._relevance is None else np.append(mean, self._relevance.mean())
        return self._mean

    def _placed(self, tensor: Any) -> Any:
        """On the device, if there is room for it."""
        if self._device.type == "cuda" and tensor.device != self._device:
            free, _ = self._torch.cuda.mem_get_info(self._device)
            if tensor.numel() * tensor.element_size() > _HEADROOM * free:
                return tensor.contiguous()
        return tensor.to(self._device).contiguous()

    def _chunks(self) -> Iterator[tuple[int, Any]]:
        """First row and float32 rows of every chunk, on the device."""
        for start in range(0, self.size, self._chunk):
            yield start, self._rows[start : start + self._chunk].to(self._device, non_blocking=True).float()

    def _scored(self, directions: Array) -> Iterator[tuple[int, Any]]:
        """First row and scores (b, rows) of every chunk, on the device."""
        torch, d = self._torch, self._rows.shape[1]
        inside = torch.from_numpy(np.ascontiguousarray(directions[:, :d], dtype=np.float32)).to(self._device)
        for start, chunk in self._chunks():
            scores = inside @ chunk.T
            if self._relevance is not None:  # added in double precision, where the device has it
                part = directions[:, d:] * self._relevance[start : start + len(chunk)]
                scores = scores.cpu().double() + torch.from_numpy(part)
            yield start, scores

    def _check_lengths(self) -> float:
        error = 0.0
        tolerance = _BFLOAT_TOLERANCE if self._rows.dtype == self._torch.bfloat16 else UNIT_TOLERANCE
        for start, chunk in self._chunks():
            squared = chunk.square().sum(dim=1).cpu().numpy()
            check_lengths(squared, start, "vectors", tolerance)
            error = max(error, float(np.abs(squared - 1.0).max()))
        return error


def _owned(vectors: Any) -> npt.NDArray[Any]:
    """An array that a tensor may share: tensors cannot share memory that is read-only."""
    array = check_vectors(vectors, "vectors")
    return array if array.flags.writeable else array.copy()


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtraError("torch", "torch") from None
    return torch


def _default_device(torch: Any, vectors: Any) -> Any:
    if isinstance(vectors, torch.Tensor):
        return vectors.device
    return "cuda" if torch.cuda.is_available() else "cpu"
