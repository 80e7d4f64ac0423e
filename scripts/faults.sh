#!/usr/bin/env bash
# Makes faults at random moments of short trainings and checks what is left: exit codes, snapshots, temporary files, and that resumed
# trainings end with the bits of undisturbed ones. MPI faults need Open MPI; strace, where it is there, makes some of the disks' faults.
#
#   scripts/faults.sh [SEED [KILLS [DISKS [PAIRS [MPI]]]]]
#
# Without counts it takes about 20 s on an idle machine; scripts/faults.sh 1 500 200 200 20 is the long form. A case that fails prints the
# command that repeats it.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${1:-1} kills=${2:-6} disks=${3:-6} pairs=${4:-6} mpi=${5:-2}
go test ./cmd/swcaffe -count=1 -timeout 4h -run '^TestFaults$' -v -args \
  -faults.seed "$seed" -faults.kills "$kills" -faults.disks "$disks" -faults.pairs "$pairs" -faults.mpi "$mpi"
