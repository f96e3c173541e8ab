#!/usr/bin/env bash
# Sourced by the tests that are shell scripts. `failures` is how many expectations were not met so far.
failures=0

# DESCRIPTION COMMAND...: the command is to succeed
expect() {
  local what=$1
  shift
  if "$@"; then
    printf 'passed: %s\n' "$what"
  else
    printf 'FAILED: %s\n' "$what"
    failures=$((failures + 1))
  fi
}
