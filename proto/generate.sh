#!/usr/bin/env bash
# Regenerates the Go code of the messages. Needs protoc and protoc-gen-go v1.36.12.
# Each file is registered under swcaffe/, so that a program may link another copy of Caffe's messages.
set -euo pipefail
cd "$(dirname "$0")"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/swcaffe"
cp ./*.proto "$tree/swcaffe/"
for f in "$tree"/swcaffe/*.proto; do
  protoc -I "$tree" --go_out=.. --go_opt=module=github.com/swcaffe/swcaffe "$f"
done
