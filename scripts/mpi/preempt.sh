#!/usr/bin/env bash
# Preempts a training under srun at random moments, again and again, as Slurm does (SIGTERM to all tasks), and starts the same command line again with
# another number of tasks. Fails unless every training resumes at the iteration at which the last one stopped.
#
#   scripts/mpi/preempt.sh [TIMES] [SEED] [COMMAND]
#
# COMMAND is a swcaffe that joins under srun --mpi=pmix, by default build/mpi-bin/swcaffe-openmpi of scripts/mpi_same.sh. Slurm must be installed; root.
set -euo pipefail
cd "$(dirname "$0")/../.."
times=${1:-100} RANDOM=${2:-1} command=$(realpath "${3:-build/mpi-bin/swcaffe-openmpi}")
dir=$(mktemp -d)
slurm=$PWD/scripts/mpi/slurm.sh
trap '"$slurm" stop "$dir/slurm"; rm -rf "$dir"' EXIT
"$slurm" start "$dir/slurm"
export SLURM_CONF=$dir/slurm/slurm.conf
cd "$dir"
cat >solver.prototxt <<'END'
net_param {
  layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 12 dim: 40 } data_filler { type: "gaussian" } } }
  layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 40 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" top: "l" }
}
base_lr: 0.0001 lr_policy: "fixed" momentum: 0.9 max_iter: 100000000 snapshot_prefix: "s" random_seed: 1
END

last=0
for n in $(seq "$times"); do
  tasks=$((1 + RANDOM % 4))
  srun -n $tasks --mpi=pmix --job-name=preempted "$command" train -solver solver.prototxt -snapshot auto -workers_expected $tasks >log 2>&1 &
  step=$!
  until grep -q 'Starting Optimization' log; do
    kill -0 $step 2>/dev/null || { cat log; echo "preemption $n, $tasks tasks: it does not start" >&2; exit 1; }
    sleep 0.05
  done
  sleep 0.$((RANDOM % 900 + 100))
  scancel --signal=TERM --name=preempted
  wait $step || { cat log; echo "preemption $n, $tasks tasks: exit code $?" >&2; exit 1; }
  from=$(sed -n 's/.*Restoring previous solver status from s_iter_\([0-9]*\)\.solverstate/\1/p' log)
  if [ "${from:-0}" != $last ]; then
    cat log
    echo "preemption $n, $tasks tasks: resumed at iteration ${from:-0}, but the last one stopped at $last" >&2
    exit 1
  fi
  now=$(sed -n 's/.*To go on: .*s_iter_\([0-9]*\)\.solverstate.*/\1/p' log)
  [ "${now:-0}" -ge "$last" ] || { cat log; echo "preemption $n: no state was written" >&2; exit 1; }
  rm -f "s_iter_$last".*
  [ "$now" != "$last" ] || { cat log; echo "preemption $n: no iteration in all the time" >&2; exit 1; }
  last=$now
done
echo "$times preemptions of 1 to 4 tasks under srun: every training went on where the last one stopped, at iteration $last in the end"
