# shellcheck shell=bash
# Sourced by the tests of what an example refuses, which set: launch (mpi_launch), family, name (of the example), program
# (its path), and always (arguments of each run).
failures=0

# EXPECTED_EXIT_CODE EXPECTED_WORDS ARGUMENT…: three ranks end with this code, and one line of the program that has the words.
expect_end() {
  local code=$1 expected=$2 output status=0 lines
  shift 2
  output=$("$launch" "$family" 3 -- "$program" "${always[@]}" "$@" 2>&1) || status=$?
  lines=$(grep -c "^$name: " <<<"$output" || true)
  if [ "$status" -ne "$code" ] || [ "$lines" -ne 1 ] || ! grep -qF -- "$expected" <<<"$output"; then
    printf 'FAILED: %s: exit code %s, %s lines, expected "%s" in:\n%s\n' "$*" "$status" "$lines" "$expected" "$output"
    failures=$((failures + 1))
  fi
}

# OPTION: --help is printed by one rank only, and tells of this option.
expect_help() {
  local output
  output=$("$launch" "$family" 3 -- "$program" --help)
  if [ "$(grep -c -- "$1" <<<"$output")" -ne 1 ]; then
    printf 'FAILED: --help is printed once, got:\n%s\n' "$output"
    failures=$((failures + 1))
  fi
}
