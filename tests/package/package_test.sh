#!/usr/bin/env bash
# The .deb holds what it should, and the Ising example runs under what is in it.
#   package_test.sh BUILD_FOLDER LAUNCH_SCRIPT
# In CI and as root it is installed by dpkg, and removed; else it is unpacked into a temporary folder.
set -euo pipefail
build=$1
launch=$2
command -v dpkg-shlibdeps >/dev/null || { echo 'SKIPPED: dpkg-shlibdeps (package dpkg-dev) is not here'; exit 77; }

work=$(mktemp -d)
installed=no
clean_up() {
  [ $installed = no ] || dpkg --purge penstock >/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
# shellcheck source=tests/support/expect.sh
source "$(dirname "$0")/../support/expect.sh"

sources=$(cd "$(dirname "$0")/../.." && pwd)
# FOLDER: its working folder, so that the build folder stays as it is
pack() {
  mkdir "$1"
  if ! cpack --config "$build/CPackConfig.cmake" -B "$1" -V >"$work/cpack.log" 2>&1; then
    tail -n 40 "$work/cpack.log"
    exit 1
  fi
}
pack "$work/first"
packages=("$work"/first/penstock_*.deb)
expect 'there is one package' [ ${#packages[@]} -eq 1 ]
package=${packages[0]}
sleep 1.1 # a time that got in would be another
python3 -m compileall -q "$sources/python/penstock" # as if somebody had used it from the sources
pack "$work/second"
expect 'packed again it is the same' cmp "$package" "$work/second/${package##*/}"
(umask 077 && pack "$work/private")
expect 'packed by somebody with another umask it holds the same' \
  diff <(dpkg-deb --contents "$package") <(dpkg-deb --contents "$work/private/${package##*/}")
# Whole folders are looked for: the path of a short checkout (`/r/`) stands in the numbers of debugging by chance.
folders=("$sources"/*/ "$(realpath "$build")"/*/)
knows_no_folder() { ! grep -aoFf <(printf '%s\n' "${folders[@]}") "$1" | sort | uniq -c | grep .; }
printf 'x\0%s/interpose/api.cpp\0' "$sources" >"$work/telling"
expect 'a source that stands in a file would be found' eval '! knows_no_folder "$work/telling"'
for program in "$build/penstock" "$build"/lib/libpenstock_{mpich,openmpi}.so; do
  expect "${program##*/} does not tell where it was built" knows_no_folder "$program"
done
dpkg-deb --info "$package"
contents=$(dpkg-deb --contents "$package" | awk '{print $6}')
field() { dpkg-deb --field "$package" "$1"; }
holds() { grep -qE "^\./usr/$1\$" <<<"$contents"; }

expect 'it is for this machine' [ "$(field Architecture)" = "$(dpkg --print-architecture)" ]
expect 'its dependencies are those of its programs' eval 'field Depends | grep -q libdw1 && field Depends | grep -q libc6'
expect 'it depends on no MPI: the program brings it' eval '! field Depends | grep -qE "mpi"'
for file in bin/penstock 'lib(/[^/]+)?/penstock/libpenstock_mpich\.so' 'lib(/[^/]+)?/penstock/libpenstock_openmpi\.so' \
  include/penstock/mpi-ext.h include/penstock/device.cuh share/doc/penstock/copyright share/doc/penstock/README.md share/penstock/python/penstock/__init__.py \
  share/man/man1/penstock.1 share/man/man1/penstock-report.1 share/man/man7/penstock-causes.7 \
  share/pkgconfig/penstock.pc share/cmake/Penstock/PenstockConfig.cmake 'share/modulefiles/penstock/[0-9.]+\.lua' \
  share/bash-completion/completions/penstock share/zsh/vendor-completions/_penstock share/fish/vendor_completions.d/penstock.fish; do
  expect "it holds $file" holds "$file"
done
expect 'and nothing of tests, examples and the simulated GPU' eval '! grep -qE "ising|test|simulated|cuda" <<<"$contents"'

if [ "${CI:-}" = true ] && [ "$(id -u)" -eq 0 ] && ! dpkg-query --status penstock >/dev/null 2>&1; then
  installed=yes
  expect 'dpkg installs it' dpkg --install "$package"
  prefix=/usr
else
  dpkg-deb --extract "$package" "$work/root"
  prefix=$work/root/usr
fi
command=$prefix/bin/penstock
cd "$work"

expect 'the command runs' "$command" --version
"$command" info >info.txt
expect 'it finds its own library for MPICH' grep -qE "preload library $prefix/lib.*/penstock/libpenstock_mpich\.so" info.txt
expect 'and for Open MPI' grep -qE "preload library $prefix/lib.*/penstock/libpenstock_openmpi\.so" info.txt
expect 'the Ising example runs under it on 4 ranks' "$launch" mpich 4 -- \
  "$command" run --output recording "$build/examples/ising_mpich" --lattice 64 --sweeps 4
expect 'each rank has recorded' eval '[ "$(ls recording/rank-*.penstock | wc -l)" -eq 4 ]'
"$command" report --all recording >report.txt  # else only where it is among the first advice
expect 'and the report knows of messages between devices' grep -q 'device → device' report.txt
expect 'a program finds the header' eval \
  'printf "#include <mpi-ext.h>\nint main(void) { return MPIX_CUDA_AWARE_SUPPORT - 1; }\n" |
    mpicc.mpich -I"$prefix/include/penstock" -fsyntax-only -x c -'
expect 'pkg-config names its folder' eval \
  '[ "$(PKG_CONFIG_PATH=$prefix/share/pkgconfig pkg-config --cflags-only-I penstock | xargs | sed s/-I// | xargs realpath)" = "$(realpath "$prefix/include/penstock")" ]'
mkdir project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(Penstock 0.1 REQUIRED)
get_target_property(folder Penstock::headers INTERFACE_INCLUDE_DIRECTORIES)
if(NOT EXISTS ${folder}/mpi-ext.h)
  message(FATAL_ERROR "no mpi-ext.h in ${folder}")
endif()
execute_process(COMMAND ${PENSTOCK_COMMAND} --version COMMAND_ERROR_IS_FATAL ANY)
END
expect 'find_package(Penstock) finds header and command' cmake -S project -B project/build -D "CMAKE_PREFIX_PATH=$prefix"
if [ -r /usr/share/lmod/lmod/init/bash ]; then
  cat >by_module.sh <<'END'
source /usr/share/lmod/lmod/init/bash
module use "$1/share/modulefiles"
module load penstock
[ "$(realpath "$(command -v penstock)")" = "$(realpath "$1/bin/penstock")" ] && man -w penstock-report >/dev/null &&
  python3 -c 'import importlib.util as u; exit(u.find_spec("penstock") is None)'
END
  expect 'a module loads command, manual and Python package' bash by_module.sh "$prefix"
else
  echo 'left out: the module file, as there is no Lmod here (package lmod)'
fi
if [ $installed = yes ]; then
  expect 'dpkg removes it' dpkg --purge penstock
  installed=no
  expect 'and nothing is left' eval '[ ! -e /usr/bin/penstock ] && ! compgen -G "/usr/lib*/penstock*" >/dev/null'
fi
exit $((failures > 0))
