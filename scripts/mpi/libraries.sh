#!/usr/bin/env bash
# Fetches Open MPI 6 and MPICH 5 of Debian's unstable release, whose libraries have the standard ABI of MPI 5.0, into a folder (scripts/unstable.sh).
#
#   [MIRROR=URL] scripts/mpi/libraries.sh [DIR]
#   build/mpi/run mpirun.mpich -np 2 build/swcaffe-mpi allreduce
#
# DIR is build/mpi by default.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(realpath -m "${1:-build/mpi}")
scripts/unstable.sh "$dir" openmpi-bin mpich
"$dir/run" ompi_info --version | head -n 1
"$dir/run" mpichversion | head -n 1
