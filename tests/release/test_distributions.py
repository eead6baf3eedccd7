"""The wheel and the source distribution: what they hold, what they say, and that they work where nothing else is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import breadth
import breadth_experiments
from tests import cores
from tests.release.building import Built, build, copy_tree
from tests.release.pythons import PLACES, VERSIONS, Environment, find_python

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    return copy_tree(tmp_path_factory.mktemp("source") / "breadth")


@pytest.fixture(scope="module")
def library(tree) -> Built:
    return build(tree, tree / "dist")


@pytest.fixture(scope="module")
def experiments(tree) -> Built:
    return build(tree / "experiments", tree / "experiments" / "dist")


def list_files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".egg-info" not in path.parts[-2]
    }


def split(built: Built) -> tuple[set[str], set[str]]:
    """The files of a wheel: the package, and what tells about it."""
    about = {name for name in built.names() if ".dist-info/" in name}
    return built.names() - about, about


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(library):
    package, about = split(library)
    core = {name for name in package if name.startswith("breadth/native/_core.") and not name.endswith(".pyi")}
    assert len(core) == int(cores.IS_COMPILED)
    assert package - core == {name for name in list_files(ROOT / "src") if not name.endswith((".cpp", ".hpp"))}
    assert {"breadth/py.typed", "breadth/service/page/index.html", "breadth/cli/data/medquad.jsonl.gz"} <= package
    licences = {name.partition("/licenses/")[2] for name in about if "/licenses/" in name}
    others = {f"src/{name}" for name in package if name.endswith("/data/README.md") or "LICENSE" in name}
    assert licences == {"LICENSE", *others}, "name every licence in license-files of pyproject.toml"


def test_the_wheel_of_the_experiments_likewise(experiments):
    package, about = split(experiments)
    assert package == list_files(ROOT / "experiments" / "src")
    assert any(name.endswith("/licenses/LICENSE") for name in about)


def test_the_source_distribution_holds_what_the_wheel_is_made_from(library):
    with tarfile.open(library.sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    beside = {"PKG-INFO", "CHANGELOG.md", "CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml"}
    assert names == beside | {f"src/{name}" for name in list_files(ROOT / "src")}


def test_without_a_compiler_the_wheel_is_pure_python_and_works(tree, tmp_path):
    """What `pip install .` makes then; the scripts that find no compiler are those of CMake."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path / "dist", tree]
    environment = {**os.environ, "CC": "/bin/false", "CXX": "/bin/false"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    environment_without = Environment(Path(sys.executable), tmp_path / "environment")
    environment_without.install(str(wheel))
    python = environment_without.bin / "python"
    environment_without.output(python, "-I", "-W", "error", ROOT / "tests" / "release" / "select_rows.py")
    assert environment_without.output(python, "-c", "from breadth import native; print(native.describe())") == "numpy\n"


def test_twine_has_nothing_to_say(library, experiments):
    made = [path for built in (library, experiments) for path in (built.wheel, built.sdist)]
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *made]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 4


def test_the_version_comes_from_one_place(library, experiments):
    assert library.metadata()["Version"] == breadth.__version__
    assert experiments.metadata()["Version"] == breadth_experiments.__version__ == breadth.__version__


@pytest.mark.parametrize("name", ["library", "experiments"])
def test_the_metadata_name_every_python_that_is_tested(name, request):
    metadata = request.getfixturevalue(name).metadata()
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(metadata.get_all("Classifier", [])))
    assert tuple(named) == VERSIONS
    assert metadata["Requires-Python"] == f">={VERSIONS[0]}"
    assert metadata["License-Expression"]
    assert any(address.startswith("Paper, https://") for address in metadata.get_all("Project-URL", []))


def list_targets(text: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", text)


def test_the_description_has_links_that_work_on_a_package_index(library):
    metadata = library.metadata()
    assert metadata["Description-Content-Type"] == "text/markdown"
    description = str(metadata.get_payload())
    assert description.startswith("# breadth")
    assert [target for target in list_targets(description) if "://" not in target] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_works_in_an_empty_environment(version, library, tmp_path):
    python = find_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine; looked in {PLACES}")
    environment = Environment(python, tmp_path / "environment")
    # The wheel holds a core for the interpreter that made it; others compile theirs from the source distribution.
    made = library.wheel if version == f"{sys.version_info[0]}.{sys.version_info[1]}" else library.sdist
    environment.install(str(made))
    environment.output(environment.bin / "python", "-I", "-W", "error", ROOT / "tests" / "release" / "select_rows.py")
    bare = environment.run(environment.bin / "breadth", "--version")
    assert bare.returncode == 1
    assert bare.stderr == "the command line needs rich; in your clone of breadth, run: pip install '.[text]'\n"

    environment.install(f"{made}[text]")
    command = environment.bin / "breadth"
    assert environment.output(command, "--version") == f"breadth {breadth.__version__}\n"
    documents = [{"id": "a", "text": "Asthma is treated with inhaled steroids."}, {"id": "b", "text": "Gout hurts."}]
    (environment.folder / "docs.jsonl").write_text("\n".join(json.dumps(line) for line in documents), encoding="utf-8")
    environment.output(command, "index", "docs.jsonl", "-o", "my.index")
    found = json.loads(environment.output(command, "search", "my.index", "How is asthma treated?", "-k", "1", "--json"))
    assert "inhaled steroids" in json.dumps(found)
