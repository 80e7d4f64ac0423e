#!/usr/bin/env bash
# Injects faults at random moments into short trainings and conversions, and checks the results: exit codes, snapshots, databases,
# temporary files, and that resumed trainings end with the same bits as undisturbed ones. MPI faults need Open MPI. Some disk
# faults need strace and are left out without it.
#
#   scripts/faults.sh [SEED [KILLS [DISKS [SIGNALS [MPI [READERS [CONVERSIONS [SOURCES [ERRORS]]]]]]]]]
#
#   KILLS        trainings that are killed
#   DISKS        trainings whose files cannot grow, or cannot be stored
#   SIGNALS      trainings that get one or two of SIGINT, SIGTERM, SIGHUP and SIGSTOP, with flags for the effect of the first three
#   MPI          jobs in which mpirun or a rank gets a signal
#   READERS      trainings whose log is a pipe that loses its reader
#   CONVERSIONS  new databases and sets whose making is killed, interrupted, or meets a full disk
#   SOURCES      databases, images, weights and states that are truncated while a training reads them
#   ERRORS       trainings that a label or a file in their list of images ends
#
# Without counts, it injects a few faults of each kind. scripts/faults.sh 1 500 200 200 20 50 100 100 200 is a long run. At the end it
# prints the number of faults of each kind. A failing case prints the command that repeats it.
set -euo pipefail
cd "$(dirname "$0")/.."

go test ./cmd/swcaffe -count=1 -timeout 4h -run '^TestFaults$' -v -args -faults.seed "${1:-1}" \
  -faults.kills "${2:-6}" -faults.disks "${3:-6}" -faults.signals "${4:-8}" -faults.mpi "${5:-2}" \
  -faults.readers "${6:-2}" -faults.conversions "${7:-6}" -faults.sources "${8:-6}" -faults.errors "${9:-6}"
