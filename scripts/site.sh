#!/usr/bin/env bash
# Makes a static site of README, docs/ and the other Markdown files, and of the commands' help. It works from the folder, in a browser without a server,
# and can be searched. A link that leads nowhere is an error.
#
#   scripts/site.sh [DIR]
#
# DIR is build/site. It needs Go and git; $SWCAFFE_TEST_BINARY is swcaffe's program, built if unset.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-build/site}")
program=${SWCAFFE_TEST_BINARY:-$PWD/build/swcaffe}
mkdir -p build
[ -n "${SWCAFFE_TEST_BINARY:-}" ] || CGO_ENABLED=0 go build -trimpath -o "$program" ./cmd/swcaffe
root=$PWD
cd tools/site
go run . -root "$root" -program "$program" -out "$out"
