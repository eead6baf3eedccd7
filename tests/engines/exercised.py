"""Which engines a run of the tests has really exercised: printed at its end, and demanded with `--every-engine`.

A passed test that recorded the property "engine" has exercised it (see the fixture `store`).
"""

from __future__ import annotations

import pytest

from breadth.engines.registry import ENGINES

_EXERCISED: set[str] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-engine", action="store_true", help="fail unless every engine was exercised")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.passed and report.when == "call":
        _EXERCISED.update(str(value) for name, value in report.user_properties if name == "engine")


def _missing(config: pytest.Config) -> list[str]:
    if hasattr(config, "workerinput") or not config.getoption("--every-engine"):
        return []
    return sorted(set(ENGINES) - _EXERCISED)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if _missing(session.config) and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    missing = _missing(config)
    if _EXERCISED or missing:
        terminalreporter.write_line(f"engines exercised: {', '.join(sorted(_EXERCISED)) or 'none'}")
    if missing:
        terminalreporter.write_line(f"engines NOT exercised: {', '.join(missing)}", red=True)
