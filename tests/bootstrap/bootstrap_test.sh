#!/usr/bin/env bash
# What ./bootstrap says and does before it builds, with a dpkg that has nothing installed and an apt-get that only
# writes down how it was called.
#   bootstrap_test.sh REPOSITORY
set -euo pipefail
repository=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/support/expect.sh
source "$(dirname "$0")/../support/expect.sh"

# NAME, then what the stand-in prints (a shell command)
stand_in() {
  printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
mkdir "$work/bin"
for tool in bash sh awk grep sort comm tr dirname mktemp tail cat rm env script; do
  ln -s "$(command -v $tool)" "$work/bin/$tool"
done
stand_in dpkg-query 'exit 1'
stand_in apt-get "echo \"\$@\" >>$work/apt-calls"
stand_in apt-cache 'exit 0'

# ARGUMENT…: exit code in `status`, all it prints in `output`
bootstrap() {
  status=0
  output=$(PATH=$work/bin "$repository/bootstrap" "$@" 2>&1 </dev/null) || status=$?
}
prints() { grep -qF -- "$1" <<<"$output"; }

bootstrap
expect 'alone, it prints help and succeeds' eval '[ "$status" -eq 0 ] && prints "usage: ./bootstrap"'
bootstrap dance
expect 'an unknown command prints help and exits 2' eval '[ "$status" -eq 2 ] && prints "usage: ./bootstrap"'

stand_in id 'echo 1000'
bootstrap tools
expect 'without root and sudo it exits 1' [ "$status" -eq 1 ]
expect 'and says the one command to run' prints 'apt-get update && apt-get install -y ccache chromium clang clang-format cmake dpkg-dev firefox-esr g++'
expect 'and does not call apt-get' [ ! -e "$work/apt-calls" ]

stand_in dpkg-query 'for package in "$@"; do [ "$package" = libprotozero-dev ] || echo "ii  $package"; done'
bootstrap tools
expect 'where only an optional package is missing it goes on, and says so' eval '[ "$status" -eq 0 ] && prints "not installed, and optional: libprotozero-dev"'
stand_in dpkg-query 'exit 1'

stand_in sudo 'exit 1'
bootstrap tools
expect 'a sudo that would need a password nobody can type counts as none' eval '[ "$status" -eq 1 ] && prints "apt-get install -y"'

stand_in id 'echo 0'
bootstrap tools
expect 'as root it installs what is missing' eval '[ "$status" -eq 0 ] && grep -q "install .*mpich" "$work/apt-calls"'
expect 'after an update' eval 'head -n 1 "$work/apt-calls" | grep -q update'

rm "$work/apt-calls"
stand_in dpkg-query 'for package in "$@"; do echo "ii  $package"; done'
bootstrap tools
expect 'when nothing is missing it does not call apt-get' eval '[ "$status" -eq 0 ] && [ ! -e "$work/apt-calls" ]'

# Given standard output for its progress, apt has dpkg take it from the packages' scripts, and those that print fail.
stand_in dpkg-query 'exit 1'
stand_in apt-get 'case "$*" in *Status-Fd=1*) exit 100;; *Status-Fd=3*) echo "pmstatus:mpich:42.5:Unpacking mpich" >&3;; esac'
bootstrap tools
expect "apt's progress has a descriptor of its own" [ "$status" -eq 0 ]
expect 'progress is not shown where nobody watches' eval '! prints "Unpacking mpich"'
output=$(PATH=$work/bin script -qec "$repository/bootstrap tools" /dev/null </dev/null)
expect 'and is shown on a terminal' prints '42 %  Unpacking mpich'

rm -f "$work/apt-calls"
stand_in apt-get "echo \"\$@\" >>$work/apt-calls"
stand_in dpkg-query 'for package in "$@"; do [ "$package" = g++ ] && echo "rc  $package" || echo "ii  $package"; done'
bootstrap tools
expect 'a package that was removed counts as missing, alone' eval 'tail -n 1 "$work/apt-calls" | grep -q "install g++$"'

stand_in dpkg-query 'exit 1'
bootstrap tools
expect 'without npm, npm and its node are installed' eval 'tail -n 1 "$work/apt-calls" | grep -q " nodejs npm "'
stand_in npm 'exit 0'
bootstrap tools
expect 'an npm that came by another way is left alone' eval '! tail -n 1 "$work/apt-calls" | grep -qE " (nodejs|npm) "'
rm "$work/bin/npm"

stand_in apt-cache 'case "$2" in libopen-trace-format2-dev | mpich) exit 100;; esac'
bootstrap tools
expect 'an optional package that no repository has is left out' eval '! tail -n 1 "$work/apt-calls" | grep -q libopen-trace'
expect 'and that is said' prints 'no package libopen-trace-format2-dev here: it is left out'
expect 'others are asked for all the same' eval 'tail -n 1 "$work/apt-calls" | grep -q " mpich "'

rm "$work/apt-calls"
stand_in apt-get 'echo "E: no network" >&2; exit 100'
bootstrap tools
expect 'when apt fails it exits 1 and shows why' eval '[ "$status" -eq 1 ] && prints "E: no network"'

packages() { sed -n "/^packages='/,/^'/p" "$repository/bootstrap" | sed -E '1d; $d; s/^([^ ]+) +(.*)$/| \1 | \2 |/'; }
table() { sed -n '/^| Debian package/,/^$/p' "$repository/README.md" | sed -E '1,2d; /^$/d'; }
expect "README's table of dependencies is bootstrap's list" diff <(packages) <(table)
exit $((failures > 0))
