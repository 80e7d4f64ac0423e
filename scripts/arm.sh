#!/usr/bin/env bash
# Tests the kernels for 64-bit ARM under an emulator (Debian's qemu-user-static and binutils-aarch64-linux-gnu):
#
#   scripts/arm.sh [-seconds N] [-seed S] [-iterations N] [PART...]
#
# Parts, all by default:
#   platforms  all packages build for 32-bit x86 and ARM, riscv64, Windows on ARM and FreeBSD
#   simd       the tests of vector kernels, whole
#   kernels    the tests of cpe/kernel, -short
#   layers     the tests of layers, -short
#   nets       the tests of cpe, net and solver, -short
#   lenet      LeNet's training for some iterations of 8 images: the losses are those of this computer, to the six digits of the log
#   random     random problems for N seconds, at the level of NEON
#   count      multiply-adds an instruction (scripts/arm_instructions.py)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export GOFLAGS=-trimpath CGO_ENABLED=0
qemu=qemu-aarch64-static
seconds=600 seed=1 iterations=40
while [[ "${1:-}" == -* ]]; do
  case $1 in
    -seconds) seconds=$2 ;;
    -seed) seed=$2 ;;
    -iterations) iterations=$2 ;;
    *) sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2 ;;
  esac
  shift 2
done
parts=${*:-platforms simd kernels layers nets lenet random count}
out=build/arm64
mkdir -p "$out"
step() { printf '\n== [%4d s] %s\n' "$SECONDS" "$*"; }
tests() { GOARCH=arm64 go test -vet=off -timeout 10h -p 1 -exec "$qemu" "$@"; }
program() { GOARCH=arm64 go build -o "$out/swcaffe" ./cmd/swcaffe; }

platforms() {
  local p
  for p in linux/386 linux/arm linux/riscv64 windows/arm64 freebsd/amd64 linux/arm64 darwin/arm64; do
    GOOS=${p%/*} GOARCH=${p#*/} go list -export ./... >/dev/null
    echo "$p builds"
  done
}
simd() { tests ./internal/base/simd/...; }
kernels() { tests -short ./cpe/kernel/...; }
layers() { tests -short ./layers/...; }
nets() { tests -short ./cpe ./net ./solver; }

lenet() {
  local here folder
  program
  go build -o "$out/here" ./cmd/swcaffe
  folder=$(mktemp -d)
  mkdir -p "$folder/models"
  cp -r models/lenet "$folder/models/"
  (
    cd "$folder"
    here=$OLDPWD/$out
    sed -i 's/batch_size: 64/batch_size: 8/' models/lenet/train_val.prototxt
    sed "s/^max_iter.*/max_iter: $iterations/; s/^display.*/display: 1/; s/^snapshot:.*/snapshot: 0/; s/^test_i.*//" models/lenet/solver.prototxt >solver.prototxt
    echo "test_initialization: false" >>solver.prototxt
    "$here/here" dataset digits -out data -train 2000 -test 100 >/dev/null 2>&1
    for run in "$qemu $here/swcaffe" "$here/here"; do
      $run train -solver solver.prototxt >log 2>&1 || { cat log; exit 1; }
      rm -rf models/lenet/lenet_iter_* # of the last iteration
      sed -n 's/.*\(Iteration [0-9]*\)[ ,].*\(loss = .*\)/\1, \2/p' log >"losses${#run}"
    done
    cmp losses*
    [ "$(wc -l <losses${#run})" -gt "$iterations" ]
    tail -n 1 losses${#run}
  )
  rm -r "$folder"
}

random() {
  GOARCH=arm64 go build -o "$out/randomtest" ./internal/testkit/randomtest/run
  go run ./internal/testkit/randomtest/run -exec "$qemu $out/randomtest" -levels neon -seconds "$seconds" -seed "$seed" -timeout 10m -dir "$out/failures"
}

count() { scripts/arm_instructions.py; }

for part in $parts; do
  step "$part"
  "$part"
done
