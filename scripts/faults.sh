#!/usr/bin/env bash
# Makes faults at random moments of short trainings and conversions, and checks what is left: exit codes, snapshots, databases, temporary files,
# and that resumed trainings end with the bits of undisturbed ones. MPI faults need Open MPI; strace, where it is there, makes some of
# the disks' faults.
#
#   scripts/faults.sh [SEED [KILLS [DISKS [SIGNALS [MPI [READERS [CONVERSIONS [SOURCES]]]]]]]]
#
#   KILLS        trainings that are killed
#   DISKS        trainings whose files cannot grow, or be stored
#   SIGNALS      trainings that get one or two of SIGINT, SIGTERM, SIGHUP and SIGSTOP, with flags for what these do
#   MPI          jobs of which mpirun or a rank gets a signal
#   READERS      trainings whose log is a pipe that nobody reads any more
#   CONVERSIONS  new databases and sets that are killed, interrupted, or find the disk full
#   SOURCES      databases, images, weights and states that get shorter while a training reads them
#
# The short form, without counts, makes each kind; scripts/faults.sh 1 500 200 200 20 50 100 100 is the long one. Behind it stands how many
# faults of which kind there were. A case that fails prints the command that repeats it.
set -euo pipefail
cd "$(dirname "$0")/.."

go test ./cmd/swcaffe -count=1 -timeout 4h -run '^TestFaults$' -v -args -faults.seed "${1:-1}" \
  -faults.kills "${2:-6}" -faults.disks "${3:-6}" -faults.signals "${4:-8}" -faults.mpi "${5:-2}" \
  -faults.readers "${6:-2}" -faults.conversions "${7:-6}" -faults.sources "${8:-6}"
