#!/usr/bin/env bash
# Builds for NVIDIA GPUs here and packs what its tests and benchmarks need there, on a GPU machine that can install
# nothing: programs, their libraries, MPICH, and the list of tests labelled `gpu`.
#   tests/gpu/pack.sh [PACK_FOLDER]      writes PACK_FOLDER/pack.tar.xz, gpu-pack by default
# Needs besides what ./bootstrap installs: the CUDA toolkit, python3, binutils, xz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
pack=${1:-gpu-pack}
build="build-gpu"

[ -f $build/build.ninja ] || cmake --preset gpu
cmake --build --preset gpu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Programs that link the driver cannot even list their tests where there is none; the toolkit's stub will do.
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
stub=$(find -L "$(dirname "$nvcc")/.." -path '*stubs/libcuda.so' -print -quit)
mkdir "$work/driver"
ln -s "$(readlink -f "$stub")" "$work/driver/libcuda.so.1"
export LD_LIBRARY_PATH=$work/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

tree=$work/penstock-gpu-pack
mkdir -p "$tree/lib"
ctest --test-dir $build --show-only=json-v1 -L gpu |
  python3 tests/gpu/list_tests.py $build . "$tree/tests.json" "$work/files"
# What tests, benchmarks and their scripts start or open without naming it in the command.
{
  find $build/lib $build/penstock $build/examples $build/benchmarks -maxdepth 1 -type f 2>/dev/null |
    sed "s|^$build/|build |"
  git ls-files tests/support tests/gpu tests/benchmarks | grep -v '^tests/benchmarks/results/' | sed 's/^/source /'
} >>"$work/files"
sort -u "$work/files" | while read -r where path; do
  from=$path
  [ "$where" = source ] || from=$build/$path
  install -D "$from" "$tree/$where/$path"
done

# Libraries that the machine may lack. Those of the C and C++ runtimes, MPI and the driver are its own.
find "$tree/build" -type f | while read -r program; do
  ldd "$program" 2>/dev/null || true
done | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
  grep -vE "/(lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s|mpi|mpich|open-pal|open-rte|cuda)\.so)|^$PWD/" |
  xargs -r -I{} cp -L {} "$tree/lib/"
# Examples keep their debug information: reports name files and lines.
find "$tree" -type f ! -path '*/examples/*' -exec sh -c 'file=$1; [ "$(head -c 4 "$file" | tail -c 3)" = ELF ] || exit 0
  strip --strip-debug "$file"' sh {} \;
tests/gpu/mpich_runtime.sh "$tree/mpich"

commit=$(git rev-parse --short=12 HEAD)
[ -z "$(git status --porcelain --untracked-files=no)" ] || commit=$commit+changes
echo "$commit" >"$tree/commit"

mkdir -p "$pack"
tar -C "$work" -cf - penstock-gpu-pack | xz -T0 -3 >"$pack/pack.tar.xz"
bytes=$(stat -c %s "$pack/pack.tar.xz")
printf '%s: %d tests, %d MB\n' "$pack/pack.tar.xz" "$(grep -c '"name"' "$tree/tests.json")" $((bytes / 1000000))
[ "$bytes" -le 60000000 ] || { echo 'pack.sh: larger than 60 MB' >&2; exit 1; }
