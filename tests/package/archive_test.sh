#!/usr/bin/env bash
# The source archive is the same whenever it is made, and is configured and built where there is no git, npm or network.
#   archive_test.sh SOURCE PAGE
set -euo pipefail
source=$1
page=$2
git -C "$source" rev-parse --verify --quiet HEAD >/dev/null || { echo 'SKIPPED: these sources are not from git'; exit 77; }
[ -s "$page" ] || { echo 'SKIPPED: the page was not built here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/support/expect.sh
source "$(dirname "$0")/../support/expect.sh"
mkdir "$work"/{first,second,programs}

"$source/cmake/write_archive" "$page" "$work/first"
sleep 1.1 # a time that got in would be another
"$source/cmake/write_archive" "$page" "$work/second"
archive=$(basename "$work"/first/penstock-*.tar.gz)
expect 'two archives are one and the same' cmp "$work/first/$archive" "$work/second/$archive"
expect 'its checksum is right' eval '(cd "$work/first" && sha256sum --check --quiet "$archive.sha256")'
tar -C "$work" -xzf "$work/first/$archive"
tree=$work/${archive%.tar.gz}

# Programs that leave a trace if they are started.
for program in git npm node nodejs; do
  printf '#!/bin/sh\necho %s >>"%s/started"\nexit 1\n' "$program" "$work" >"$work/programs/$program"
  chmod +x "$work/programs/$program"
done
without_network=()
if unshare --map-root-user --net true 2>/dev/null; then without_network=(unshare --map-root-user --net); fi
build() { (cd "$tree" && PATH=$work/programs:$PATH "${without_network[@]}" "$@"); }

expect 'it is configured' build cmake --preset release -D PENSTOCK_PAGE=ON
expect 'its page and its commit are there' build cmake --build build --target page penstock_commit
expect 'the page is the one that was put in' cmp "$page" "$tree/build/viz/page.html"
commit=$(git -C "$source" rev-parse HEAD)
expect 'the commit is that of the archive' grep -qF "PENSTOCK_COMMIT \"${commit:0:12}\"" \
  "$tree/build/analysis/commit/penstock_commit.hpp"
expect 'neither git nor npm was started' [ ! -e "$work/started" ]
configured=$(build cmake --preset release -D PENSTOCK_PAGE=ON -D BUILD_TESTING=OFF -D 'PENSTOCK_WITHOUT=libdw;libelf;protozero;otf2;hwloc' 2>&1) || configured=
for library in libdw libelf protozero otf2 hwloc; do
  expect "it is configured without $library and says so" grep -q "Penstock: no $library: " <<<"$configured"
done
expect 'and then names none of them' eval '! grep -qE "code_names_by|/elf_needs\.cpp|perfetto_export\.cpp|otf2_export\.cpp|gmh|libdw\.so|libelf\.so" "$tree/build/build.ninja"'
expect 'bootstrap installs no npm there' eval '! (cd "$tree" && sed -n "/^packages=/,/^# What a/p" bootstrap >list && . ./list && grep -q npm <<<"$packages")'
exit $((failures > 0))
