#!/usr/bin/env bash
# Trains LeNet with four workers by every MPI that is here, and in one process, and fails unless all give the same snapshots, byte for byte.
#
#   scripts/mpi_same.sh [-iterations N] [-here]
#
#   local        four workers in one process of the static swcaffe
#   openmpi-abi  the static swcaffe hands over to swcaffe-mpi, under Open MPI 6    } scripts/mpi/libraries.sh
#   mpich-abi    the same under MPICH 5                                            } unpacks them into build/mpi
#   openmpi-tag  a build with -tags mpi, under the Open MPI that is installed (openmpi-bin, libopenmpi-dev, pkgconf, gcc)
#   mpich-tag    the same with the MPICH that is installed (mpich, libmpich-dev, pkgconf, gcc)
#   slurm-tag    the build for Open MPI under srun --mpi=pmix, if Slurm is installed (scripts/mpi/slurm.sh)
#   slurm-abi    the static swcaffe under srun --mpi=pmix, with Open MPI 6
#   ...-2-hosts  the four under mpirun again, as root, with two workers each on two hosts: network namespaces, between which MPI has TCP alone
#                (scripts/mpi/hosts.sh); it fails if they have not used it
#
# What is not installed is said and left out; local and one other way are needed at least. -here fetches nothing: the two ways by the ABI, and
# slurm-abi, are then left out unless build/mpi is there.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/alive.sh
export GOFLAGS="${GOFLAGS:-} -trimpath"

iterations=200 fetch=true
while [ $# -gt 0 ]; do
  case $1 in
    -iterations) iterations=$2; shift 2 ;;
    -here) fetch=false; shift ;;
    *) echo "usage: $0 [-iterations N] [-here]" >&2; exit 2 ;;
  esac
done
ranks=4
work=$(mktemp -d)
trap 'scripts/mpi/slurm.sh stop "$work/slurm" >/dev/null 2>&1 || true; scripts/mpi/hosts.sh stop "$work/hosts"; rm -rf "$work"' EXIT

mkdir -p build/mpi-bin
rm -f build/mpi-bin/swcaffe-openmpi build/mpi-bin/swcaffe-mpich # of MPIs that may be gone
CGO_ENABLED=0 alive go build -o build/mpi-bin/swcaffe ./cmd/swcaffe
CGO_ENABLED=0 alive go build -o build/mpi-bin/swcaffe-mpi ./cmd/swcaffe-mpi
static=$PWD/build/mpi-bin/swcaffe
"$static" dataset digits -out "$work/data" -train 2000 -test 100 2>/dev/null

# build_tag NAME PACKAGE FOLDER builds swcaffe with -tags mpi for a package of pkg-config, to which FOLDER's ompi.pc leads; "": Open MPI's own. Go
# takes what it has compiled for another MPI unless CGO_CFLAGS differs.
build_tag() {
  PKG_CONFIG_PATH=$3 CGO_CFLAGS="-O2 -g $(pkg-config --cflags "$2")" CGO_ENABLED=1 alive go build -tags mpi -o "build/mpi-bin/swcaffe-$1" ./cmd/swcaffe
}

# train WAY STRATEGY COMMAND... trains in a folder of its own and keeps the checksums of what is written there.
train() {
  local way=$1 strategy=$2 dir=$work/$1.$2
  shift 2
  mkdir "$dir"
  sed -e "s|data/digits_|$work/data/digits_|" models/lenet/train_val.prototxt >"$dir/net.prototxt"
  sed -e 's|^net:.*|net: "net.prototxt"|' -e "s|^max_iter:.*|max_iter: $iterations|" -e 's|^snapshot_prefix:.*|snapshot_prefix: "lenet"|' \
    -e "s|^test_interval:.*|test_interval: $iterations|" -e 's|^test_iter:.*|test_iter: 1|' models/lenet/solver.prototxt >"$dir/solver.prototxt"
  (cd "$dir" && alive "$@" train -solver solver.prototxt -workers_strategy "$strategy" -workers_expected $ranks >log 2>&1) || {
    cat "$dir/log"
    echo "$way $strategy: failed" >&2
    exit 1
  }
  (cd "$dir" && sha256sum lenet_iter_"$iterations".*) >"$work/$way.$strategy.sums"
  printf '%-20s %-12s %4d s  %s\n' "$way" "$strategy" $((SECONDS - began)) "$(sha256sum <"$work/$way.$strategy.sums" | cut -c 1-16)"
}

# way NAME COMMAND... trains by both strategies and compares with local.
compared=0
way() {
  local name=$1
  shift
  for strategy in sync sync_easgd3; do
    began=$SECONDS
    train "$name" $strategy "$@"
    [ "$name" != local ] || continue
    diff "$work/local.$strategy.sums" "$work/$name.$strategy.sums" || { echo "$name $strategy: other bytes than local" >&2; exit 1; }
    compared=$((compared + 1))
  done
}
without() { echo "left out: $1 ($2)"; }
have() { for tool in "$@"; do type -P "$tool" >/dev/null || return 1; done; }

# Four processes share this computer's cores: they yield while they wait.
open4=(mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -np $ranks)

for strategy in sync sync_easgd3; do
  began=$SECONDS
  train local $strategy "$static" -workers $ranks
done

if have mpirun.openmpi pkg-config gcc && pkg-config --exists ompi; then
  build_tag openmpi ompi ""
  way openmpi-tag "${open4[@]}" "$PWD/build/mpi-bin/swcaffe-openmpi"
else
  without openmpi-tag "install openmpi-bin libopenmpi-dev pkgconf gcc"
fi

if have mpirun.mpich pkg-config gcc && pkg-config --exists mpich; then
  # empi asks pkg-config for ompi: a file of this name stands for MPICH.
  mkdir "$work/pc"
  printf 'Name: ompi\nDescription: MPICH in place of Open MPI\nVersion: 1\nRequires: mpich\n' >"$work/pc/ompi.pc"
  build_tag mpich mpich "$work/pc"
  way mpich-tag mpirun.mpich -np $ranks "$PWD/build/mpi-bin/swcaffe-mpich"
else
  without mpich-tag "install mpich libmpich-dev pkgconf gcc"
fi

if [ ! -x build/mpi/run ] && $fetch && [ "$(uname -m)" = x86_64 ]; then scripts/mpi/libraries.sh; fi
if [ -x build/mpi/run ]; then
  way openmpi-abi "$PWD/build/mpi/run" mpirun.openmpi --map-by :oversubscribe -np $ranks "$static"
  way mpich-abi "$PWD/build/mpi/run" mpirun.mpich -np $ranks "$static"
else
  without "openmpi-abi, mpich-abi" "scripts/mpi/libraries.sh"
fi

if have srun slurmctld slurmd munged && [ "$(id -u)" = 0 ]; then
  export SLURM_CONF=$work/slurm/slurm.conf
  scripts/mpi/slurm.sh start "$work/slurm"
  if [ -x build/mpi-bin/swcaffe-openmpi ]; then
    way slurm-tag srun -n $ranks --mpi=pmix "$PWD/build/mpi-bin/swcaffe-openmpi"
  fi
  if [ -x build/mpi/run ]; then
    way slurm-abi srun -n $ranks --mpi=pmix "$PWD/build/mpi/run" "$static"
  fi
else
  without "slurm-tag, slurm-abi" "install slurm-wlm, and be root"
fi

# across NAME COMMAND... is way on both hosts. The workers on each have half of the gradients to send.
across() {
  local carried
  carried=$("$hosts/carried")
  way "$1-2-hosts" "$hosts/on" 1 "${@:2}"
  carried=$(($("$hosts/carried") - carried))
  [ $carried -gt $((iterations * 1000000)) ] || { echo "$1: only $carried bytes went from host to host" >&2; exit 1; }
  echo "                     $((carried / 1000000)) MB went from host to host"
}
if [ "$(id -u)" = 0 ] && have ip nsenter unshare && scripts/mpi/hosts.sh start "$work/hosts"; then
  hosts=$work/hosts
  mapfile -t at <"$hosts/addresses"
  # MPICH's UCX finds out that both are one computer, and would use its memory.
  export UCX_TLS=tcp,self
  hydra=(-launcher ssh -launcher-exec "$hosts/agent" -iface sw0 -hosts "${at[0]}:2,${at[1]}:2" -np $ranks)
  [ ! -x build/mpi-bin/swcaffe-openmpi ] || across openmpi-tag "${open4[@]}" --mca plm_rsh_agent "$hosts/agent" --host "${at[0]}:2,${at[1]}:2" "$PWD/build/mpi-bin/swcaffe-openmpi"
  [ ! -x build/mpi-bin/swcaffe-mpich ] || across mpich-tag mpirun.mpich "${hydra[@]}" "$PWD/build/mpi-bin/swcaffe-mpich"
  if [ -x build/mpi/run ]; then
    export SWHOST_RUN=$PWD/build/mpi/run
    across openmpi-abi "$SWHOST_RUN" mpirun.openmpi --prtemca plm_ssh_agent "$hosts/agent" --mca btl_tcp_if_include sw0 --map-by :oversubscribe \
      --host "${at[0]}:2,${at[1]}:2" -np $ranks "$static"
    across mpich-abi "$SWHOST_RUN" mpirun.mpich "${hydra[@]}" "$static"
  fi
else
  without "two hosts" "be root, with iproute2, util-linux and network namespaces"
fi

[ $compared -gt 0 ] || { echo "there was no MPI to compare with" >&2; exit 1; }
echo "the same bytes in $compared trainings by MPI and in one process: LeNet, $ranks workers, $iterations iterations"
