"""`breadth serve`: the HTTP service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from breadth.cli.options import EncoderOption
from breadth.errors import InputError, MissingExtraError
from breadth.opening import ADDRESSES


def serve(
    collection: Annotated[str, typer.Argument(help=f"what to serve: {', '.join(ADDRESSES)}", metavar="INDEX_OR_URL")],
    host: Annotated[
        str, typer.Option(help="where to listen; beyond this machine only with a token in BREADTH_TOKEN")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="the port; 0 takes any free one")] = 8000,
    name: Annotated[
        str | None, typer.Option(help="name of the collection for clients of OpenAI [name of the folder]")
    ] = None,
    token_file: Annotated[Path | None, typer.Option(help="file that holds the token, instead of BREADTH_TOKEN")] = None,
    window: Annotated[float, typer.Option(help="milliseconds that a query waits for others to share a search")] = 2.0,
    together: Annotated[int, typer.Option(help="the most queries that share a search; 1 lets none share")] = 32,
    workers: Annotated[int, typer.Option(help="processes; each has the collection in its memory")] = 1,
    threads: Annotated[
        int | None, typer.Option(help="searches at the same time in each process [cores / workers]")
    ] = None,
    max_k: Annotated[int, typer.Option(help="the most passages of a set")] = 1000,
    max_batch: Annotated[int, typer.Option(help="the most queries of a batch")] = 64,
    max_body: Annotated[int, typer.Option(help="the most bytes of a request")] = 4_000_000,
    max_seconds: Annotated[float, typer.Option(help="the most seconds of searching for a query")] = 10.0,
    log_queries: Annotated[bool, typer.Option("--log-queries", help="show queries in the log")] = False,
    encoder: EncoderOption = None,
) -> None:
    """Serve an index or an engine over HTTP. SIGTERM answers all requests, then stops; SIGHUP opens it again."""
    try:
        from breadth.service.limits import Limits
        from breadth.service.running import serve as serve_alone
        from breadth.service.settings import Settings
        from breadth.service.workers import serve_together
    except ImportError as error:
        raise MissingExtraError(str(error.name), "service") from None
    limits = Limits(body=max_body, k=max_k, batch=max_batch, seconds=max_seconds, patience=max(30.0, 3 * max_seconds))
    settings = Settings(
        collection=collection,
        name=name or Path(collection.partition("?")[0]).stem or "default",
        encoder=encoder,
        host=host,
        port=port,
        token=_read_token(token_file),
        limits=limits,
        window=window / 1000.0,
        together=together,
        workers=workers,
        threads=max(1, (os.cpu_count() or 1) // max(1, workers)) if threads is None else threads,
        log_queries=log_queries,
    )
    run = serve_alone if settings.workers == 1 else serve_together
    run(settings)


def _read_token(path: Path | None) -> str | None:
    """The token of the file or of the environment. It is no option: other users of a machine can see those."""
    if path is None:
        return os.environ.get("BREADTH_TOKEN") or None
    token = path.read_text(encoding="utf-8").strip()
    if not token:
        raise InputError(f"{path} holds no token")
    return token
