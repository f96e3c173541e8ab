#!/usr/bin/env bash
# All pages that the build installs are what man and mandoc take for good ones.
#   man_pages_test.sh PENSTOCK
set -euo pipefail
penstock=$1
# shellcheck source=tests/support/expect.sh
source "$(dirname "$0")/../../support/expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$penstock" man --write "$work"
pages=("$work"/man/man?/*)
expect 'there is a page for each command and each topic' [ ${#pages[@]} -ge 14 ]
expect 'what is printed is what is written' cmp "$work/man/man1/penstock-report.1" <("$penstock" man report)
expect 'and the page of the whole command' cmp "$work/man/man1/penstock.1" <("$penstock" man)
expect 'no page names a home folder' eval '! grep -lF "${HOME:-/home}/" "${pages[@]}"'

checked=no
# says nothing, or what is wrong
without_complaint() {
  local said
  said=$("$@" 2>&1 >/dev/null) || true
  printf '%s' "$said"
  [ -z "$said" ]
}
if command -v man >/dev/null && command -v groff >/dev/null; then
  checked=yes
  for page in "${pages[@]}"; do
    expect "man has no warning about ${page##*/}" without_complaint env LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 \
      man --warnings -E UTF-8 -l -Tutf8 -Z "$page"
  done
else
  echo 'left out: man or groff is not here'
fi
if command -v mandoc >/dev/null; then
  checked=yes
  for page in "${pages[@]}"; do
    # a page has no date, as the same sources are to make the same page
    expect "mandoc has no warning about ${page##*/}" eval \
      '[ -z "$(mandoc -T lint -W warning "$page" | grep -v "missing date" | tee /dev/stderr)" ]'
  done
else
  echo 'left out: mandoc is not here'
fi
[ $checked = yes ] || [ $failures -gt 0 ] || { echo 'SKIPPED: neither man nor mandoc is here'; exit 77; }
exit $((failures > 0))
