#!/usr/bin/env bash
# Links between the repository's own pages lead somewhere.
#   links_test.sh REPOSITORY
set -euo pipefail
cd "$1"
failures=0
while IFS=: read -r page link; do
  target=${link#\](}
  target=${target%)}
  target=${target%%#*}
  case $target in
    '' | http://* | https://*) continue ;;
  esac
  [ -e "$(dirname "$page")/$target" ] || {
    printf 'FAILED: %s links to %s, which is not there\n' "$page" "$target"
    failures=$((failures + 1))
  }
done < <(find . -name '*.md' -not -path './build*' -not -path '*/node_modules/*' -not -path './.git/*' -print0 | xargs -0 grep -oE '\]\([^) ]+\)')
exit $((failures > 0))
