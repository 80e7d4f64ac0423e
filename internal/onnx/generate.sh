#!/usr/bin/env bash
# Regenerates the Go code of ONNX's messages. Needs protoc and protoc-gen-go v1.36.12.
# The file is registered as swcaffe/onnx.proto in package swcaffe.onnx, so that a program may link another copy of the messages.
set -euo pipefail
cd "$(dirname "$0")"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/swcaffe"
cp onnx.proto "$tree/swcaffe/"
protoc -I "$tree" --go_out=../.. --go_opt=module=github.com/swcaffe/swcaffe "$tree/swcaffe/onnx.proto"
