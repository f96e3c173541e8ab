#!/usr/bin/env bash
# The completions are what their shells can read, and bash's completes commands, options and values.
#   completion_test.sh PENSTOCK
set -euo pipefail
penstock=$(realpath "$1")
# shellcheck source=tests/support/expect.sh
source "$(dirname "$0")/../../support/expect.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for shell in bash zsh fish; do
  "$penstock" completion $shell >"$work/penstock.$shell"
  if command -v $shell >/dev/null; then
    expect "$shell can read it" $shell -n "$work/penstock.$shell"
  else
    echo "left out: $shell is not here"
  fi
done
if command -v shellcheck >/dev/null; then
  expect 'shellcheck finds nothing in it' shellcheck --shell=bash --severity=warning "$work/penstock.bash"
fi

mkdir runs runs/earlier
touch report.html penstock-out.txt
# WORD...: what bash offers for the last of these words, in a shell of its own, with what it cuts words at
offered() {
  bash --norc -uo pipefail -c '
    source "$1"
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _penstock
    printf "%s\n" "${COMPREPLY[@]}"' bash "$work/penstock.bash" "$@" | sort | xargs
}
offers() { # EXPECTED WORD...
  local expected=$1 got
  shift
  got=$(offered "$@")
  [ "$got" = "$expected" ] || { echo "offered: $got"; return 1; }
}
offers_among() { # EXPECTED WORD...
  local expected=$1
  shift
  [[ " $(offered "$@") " = *" $expected "* ]]
}
does_not_offer() { ! offers_among "$@"; }

expect 'commands' offers 'report run' penstock r
expect 'all commands' offers_among 'tune' penstock ''
expect 'no hidden command' does_not_offer 'man' penstock ''
expect 'options of the whole command' offers '--help --version' penstock --
expect 'options of a command' offers '--baseline' penstock report --b
expect 'also behind others' offers '--baseline' penstock report --json --top 5 --b
expect 'not those of another command' offers '' penstock tune --b
expect 'no hidden option' does_not_offer '--worker' penstock tune --
expect 'values of an option' offers 'abi mpich openmpi' penstock run --mpi ''
expect 'values that begin so' offers 'peer pushed' penstock run --transport p
expect 'values behind an equals sign' offers 'openmpi' penstock run --mpi = o
expect 'and directly behind it' offers 'abi mpich openmpi' penstock run --mpi =
expect 'files for an option that takes one' offers 'report.html' penstock report --html rep
expect 'nothing for a number' offers '' penstock report --top ''
expect 'recordings' offers 'runs' penstock report ru
expect 'recordings behind the argument of an option' offers 'runs' penstock report --fail-if 'exposed > 1%' ru
expect 'several recordings' offers 'runs' penstock diff runs/earlier ru
expect 'folders for an export into one' offers 'runs' penstock export --csv ''
expect 'a program' offers_among 'sleep' penstock run --no-record slee
expect 'a program behind two dashes' offers_among 'sleep' penstock run -- slee
expect "what a program takes are files" offers 'report.html' penstock run --mpi mpich ./app --json rep
expect 'no option of ours is a program'"'"'s' offers '' penstock run ./app --every
expect 'topics' offers 'causes completion' penstock help c
expect 'shells' offers 'bash fish zsh' penstock completion ''
expect 'nothing behind a command that is not there' offers '' penstock dance ''
expect 'it is registered for the command' bash --norc -c 'source "$0"; complete -p penstock' "$work/penstock.bash"
exit $((failures > 0))
