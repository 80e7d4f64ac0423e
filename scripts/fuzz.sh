#!/usr/bin/env bash
# Searches for bugs for some hours, with fresh seeds every time: random nets and random kernel problems against the reference
# path, damaged files for every reader, and kills, full disks and signals during trainings. A round of about half an hour runs all
# of them. Failures are written to build/fuzz, with the commands that repeat them. After a round with failures, the script exits
# with 1.
#
#   scripts/fuzz.sh HOURS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
hours=${1:?"usage: scripts/fuzz.sh HOURS"}
end=$(awk -v now="$(date +%s)" -v h="$hours" 'BEGIN { printf "%d", now + h * 3600 }')
mkdir -p build/fuzz
go build -o build/fuzz/randomtest ./internal/testkit/randomtest/run
CGO_ENABLED=1 go build -race -o build/fuzz/randomtest-race ./internal/testkit/randomtest/run # sees what Go code reads and writes, so not vectors
failed=0

# try COMMAND... runs a command. If it fails, try records the failure and continues.
try() {
  printf '\n== %s\n' "$*"
  "$@" || { failed=1; printf 'FAILED: %s\n' "$*"; }
}

while [ "$(date +%s)" -lt "$end" ] && [ $failed = 0 ]; do
  left=$((end - $(date +%s)))
  round=$((left < 1800 ? left : 1800))
  try build/fuzz/randomtest -seed 0 -seconds $((round * 5 / 10)) -dir build/fuzz/problems
  try env GORACE=halt_on_error=1 build/fuzz/randomtest-race -seed 0 -levels go -seconds $((round / 10)) -dir build/fuzz/problems
  mapfile -t targets < <(git grep --name-only -E '^func Fuzz' -- '*_test.go')
  each=$((round * 2 / 10 / ${#targets[@]}))
  for file in "${targets[@]}"; do
    for name in $(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$file"); do
      try go test "./$(dirname "$file")" -run '^$' -fuzz "^$name\$" -fuzztime "$((each > 5 ? each : 5))s"
    done
  done
  try scripts/faults.sh "$RANDOM" 40 20 20 4
done
exit $failed
