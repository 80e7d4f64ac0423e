#!/usr/bin/env bash
# Preempts a training at random moments, again and again, and starts the same command line again with another number of ranks. Fails unless every
# training goes on where the last one stopped, and unless what was stopped had lost one iteration at most.
#
#   scripts/mpi/preempt.sh [LAUNCHER] [TIMES] [SEED] [COMMAND]
#
# LAUNCHER is srun (as root; scripts/mpi/slurm.sh starts Slurm), mpirun.openmpi or mpirun.mpich, or one of scripts/mpi/libraries.sh, as
# "build/mpi/run mpirun.mpich". Slurm sends SIGTERM to every rank. Under mpirun it is sent to every rank, or SIGUSR1 to mpirun, which passes that
# on: Open MPI does not pass SIGTERM on in time (findings/openmpi_mpirun_sigterm.sh). The moment may be before the first iteration.
# COMMAND is a swcaffe that joins under the launcher, by default that of scripts/mpi_same.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
launcher=${1:-srun} times=${2:-100} RANDOM=${3:-1}
case $launcher in
  *run\ mpirun*) own=swcaffe ;;
  mpirun.mpich) own=swcaffe-mpich ;;
  *) own=swcaffe-openmpi ;;
esac
command=$(realpath "${4:-build/mpi-bin/$own}")
case $launcher in build/*) launcher=$PWD/$launcher ;; esac
dir=$(mktemp -d)
slurm=$PWD/scripts/mpi/slurm.sh
ended() { [ "$launcher" != srun ] || "$slurm" stop "$dir/slurm"; kill -KILL "${step:-}" 2>/dev/null || true; rm -rf "$dir"; }
trap ended EXIT
if [ "$launcher" = srun ]; then
  "$slurm" start "$dir/slurm"
  export SLURM_CONF=$dir/slurm/slurm.conf
fi
cd "$dir"
cat >solver.prototxt <<'END'
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 12 dim: 40 } data_filler { type: "gaussian" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 40 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
}
base_lr: 0.0001 lr_policy: "fixed" momentum: 0.9 max_iter: 100000000 display: 20 snapshot_prefix: "s" random_seed: 1
END

# start RANKS starts a training and sets step.
start() {
  rm -f log # that of the start before would be read until the shell empties it
  local words
  case $launcher in
    srun) words=(srun -n "$1" --mpi=pmix --job-name=preempted) ;;
    mpirun.openmpi) words=(mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -np "$1") ;;
    *mpirun.openmpi) words=($launcher --map-by :oversubscribe -np "$1") ;;
    *) words=($launcher -np "$1") ;;
  esac
  "${words[@]}" "$command" train -solver solver.prototxt -snapshot auto -workers_expected "$1" >log 2>&1 &
  step=$!
}

# below PROCESS prints the swcaffes that a process has started.
below() {
  local p
  for p in $(pgrep -P "$1"); do
    case $(readlink "/proc/$p/exe") in */swcaffe*) echo "$p" ;; *) below "$p" ;; esac
  done
}

preempt() {
  if [ "$launcher" = srun ]; then
    scancel --signal=TERM --name=preempted
  elif [ $((RANDOM % 2)) = 0 ]; then
    local ranks
    ranks=$(below $step)
    [ -z "$ranks" ] || kill -TERM $ranks 2>/dev/null || true
    [ -n "$ranks" ] || kill -TERM $step
  else
    kill -USR1 $step
  fi
}

newest() { ls | sed -n 's/^s_iter_\([0-9]*\)\.solverstate$/\1/p' | sort -n | tail -n 1; }
fail() { cat log; echo "preemption $n, $ranks ranks: $1" >&2; exit 1; }

last=0 early=0 ranks=0
for n in $(seq "$times"); do
  before=$ranks
  while [ $ranks = $before ]; do ranks=$((1 + RANDOM % 4)); done
  start $ranks
  # One in five comes while the training still starts, when the launcher may lose it: then it is sent again.
  starting=$((RANDOM % 5))
  if [ $starting != 0 ]; then
    until grep -q 'Starting Optimization' log; do
      kill -0 $step 2>/dev/null || fail "it does not start"
      sleep 0.05
    done
  fi
  sleep 0.$((RANDOM % 900 + 100))
  preempt
  for _ in $(seq 30); do
    [ $starting = 0 ] || break
    sleep 0.5
    kill -0 $step 2>/dev/null || break
    preempt
  done
  status=0
  wait $step || status=$?
  step=
  now=$(newest)
  done=$(sed -n 's/.*Iteration \([0-9]*\) (.*/\1/p' log | tail -n 1)
  if grep -q 'Starting Optimization' log; then
    from=$(sed -n 's/.*Restoring previous solver status from s_iter_\([0-9]*\)\.solverstate/\1/p' log)
    [ "${from:-0}" = $last ] || fail "resumed at iteration ${from:-0}, but the last one stopped at $last"
  fi
  [ "${now:-0}" -ge "$last" ] || fail "the state of iteration $last is gone"
  [ "${now:-0}" -ge $((${done:-0} - 1)) ] || fail "the state is that of iteration ${now:-0}, but $done iterations were completed; exit code $status"
  [ "${now:-0}" != "$last" ] || early=$((early + 1))
  [ "${now:-0}" = "$last" ] || rm -f "s_iter_$last".*
  last=${now:-0}
done
[ "$early" -lt "$times" ] || { cat log; echo "no training got as far as an iteration" >&2; exit 1; }
echo "$times preemptions of 1 to 4 ranks by $launcher, $early before the first iteration: every training went on where the last one stopped, at iteration $last in the end"
