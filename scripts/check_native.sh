#!/bin/sh
# Run the tests of the core on a build with the sanitizers for addresses and undefined behaviour. $1: the interpreter.
set -eu
cd "$(dirname "$0")/.."
python=$1
folder=build/native-check
cmake -S . -B "$folder" -DPython_EXECUTABLE="$("$python" -c 'import sys; print(sys.executable)')" \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DBREADTH_PLAIN"
cmake --build "$folder" --parallel 2
# The tests run on a copy of the package that holds this build, not on the one that is installed. The interpreter itself
# leaks, so leaks are not looked for.
rm -rf "$folder/site"
mkdir -p "$folder/site"
cp -r src/breadth "$folder/site/"
cp "$folder"/_core*.so "$folder/site/breadth/native/"
run='
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuild" not in type(finder).__name__]
import breadth.native._core
assert "native-check" in breadth.native._core.__file__, breadth.native._core.__file__
import pytest
sys.exit(pytest.main(sys.argv[1:]))
'
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so) $(g++ -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0 PYTHONPATH="$PWD/$folder/site" OPENBLAS_NUM_THREADS=1 \
    "$python" -c "$run" -q -p no:cacheprovider tests/native tests/solve/test_constraints.py tests/oracles/test_compact.py
