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
# The tests run on a copy of the package that holds this build. The interpreter's own memory is not looked at.
rm -rf "$folder/site"
mkdir -p "$folder/site"
cp -r src/breadth "$folder/site/"
cp "$folder"/_core*.so "$folder/site/breadth/native/"
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so) $(g++ -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=detect_leaks=0 PYTHONPATH="$folder/site" \
    "$python" -m pytest -q -p no:cacheprovider tests/native tests/solve/test_constraints.py tests/oracles/test_compact.py
