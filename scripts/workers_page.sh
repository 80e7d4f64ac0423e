#!/usr/bin/env bash
# Runs the commands of docs/workers.md as they stand, as root: builds the programs of its table and trains LeNet for some iterations, in one process, from hostfiles on
# two hosts of this computer (scripts/mpi/hosts.sh), under Slurm (scripts/mpi/slurm.sh), elastically, and in virtual time. A job of Slurm is requeued and goes on.
# There is no Kubernetes here: the manifest is held against the schema in the Go module of the MPI operator, and the command of its launcher runs with
# the variables that the operator sets. A part is left out, which is said, where something is not installed.
#
#   scripts/workers_page.sh [PART...]
#
# Parts: local hostfile mpich slurm kubernetes elastic simulated. For all, Debian's openmpi-bin, libopenmpi-dev, mpich, libmpich-dev, pkgconf, gcc, slurm-wlm, iproute2, util-linux and
# python3-yaml, and scripts/mpi/libraries.sh. ssh is scripts/mpi/hosts.sh's agent.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/alive.sh
export GOFLAGS="${GOFLAGS:-} -trimpath"
parts=" ${*:-local hostfile mpich slurm kubernetes elastic simulated} "
page=$PWD/docs/workers.md scripts=$PWD/scripts run=$PWD/build/mpi/run
dir=$(mktemp -d)
hosts=$dir/hosts
cleanup() {
  "$scripts/mpi/slurm.sh" stop "$dir/slurm" >/dev/null 2>&1 || true
  "$scripts/mpi/hosts.sh" stop "$hosts"
  rm -rf "$dir"
}
trap cleanup EXIT
have() { for tool in "$@"; do type -P "$tool" >/dev/null || return 1; done; }
part() { [[ $parts = *" $1 "* ]]; }
without() { echo "left out: $1 ($2)"; }
fail() { [ ! -e "${log:-}" ] || tail -n 20 "$log" >&2; echo "docs/workers.md, $*" >&2; exit 1; }

# block TITLE N prints the Nth block of indented lines below a title of the page, or above all with ""; words TEXT the command in backticks that begins with TEXT.
block() {
  awk -v title="$1" -v n="$2" '
    /^##/ { here = $0; sub(/^#+ /, "", here) }
    here == title && /^    / { if (!inside) block++; inside = 1; if (block == n) print substr($0, 5); next }
    { inside = 0 }' "$page" | grep . || fail "there is no block $2 below \"$1\""
}
words() { grep -o "\`$1[^\`]*\`" "$page" | head -n 1 | tr -d '`' | grep . || fail "there is no command $1"; }

git clone -q . "$dir/swcaffe"
# build NAME COMMANDS builds as the page says, in a clone.
build() {
  (cd "$dir/swcaffe" && rm -rf bin && mkdir bin && bash -euc "$2") && mv "$dir/swcaffe/bin" "$dir/$1"
  echo "built: $1"
}
alive build static "$(words 'CGO_ENABLED=0 go build')"
openmpi=false
if have mpirun.openmpi pkg-config gcc && pkg-config --exists ompi; then
  openmpi=true
  CGO_CFLAGS="-O2 -g $(pkg-config --cflags ompi)" alive build openmpi "$(words 'CGO_ENABLED=1 go build -tags mpi')" # what was compiled for another MPI is not taken
fi

# work NAME [ITERATIONS] makes a folder with the page's solvers.
"$dir/static/swcaffe" dataset digits -out "$dir/data" -train 2000 -test 100 2>/dev/null
work() {
  mkdir -p "$dir/$1/models/lenet"
  cd "$dir/$1"
  log=$dir/$1/log
  sed "s|data/digits_|$dir/data/digits_|" "$dir/swcaffe/models/lenet/train_val.prototxt" >net.prototxt
  sed -e 's|^net:.*|net: "net.prototxt"|' -e "s|^max_iter:.*|max_iter: ${2:-20}|" -e 's|^snapshot_prefix:.*|snapshot_prefix: "lenet"|' -e 's|^test_interval:.*|test_interval: 100000|' \
    -e 's|^test_iter:.*|test_iter: 1|' -e 's|^snapshot:.*|snapshot: 0|' -e 's|^display:.*|display: 5|' "$dir/swcaffe/models/lenet/solver.prototxt" | tee solver.prototxt s.prototxt >models/lenet/solver.prototxt
}
# follow COMMAND... runs commands of the page with its shell: what there is before -- stands before "bash -c".
follow() {
  local before=()
  while [ "$1" != -- ]; do before+=("$1"); shift; done
  ${before[@]+"${before[@]}"} sh -euc "$2" >log 2>&1 || fail "$2: exit status $?"
}
expect() { for text in "$@"; do grep -qE -- "$text" log || fail "the log has no \"$text\""; done; }

# This computer has fewer cores than the page's, and root starts the commands.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
# MPICH's UCX finds out that both hosts are one computer, and would use its memory.
export UCX_TLS=tcp,self
path=$PATH

if part local; then
  work local
  export PATH=$dir/static:$path
  follow -- "$(block '' 1 | head -n 2)"
  expect 'Optimization Done'
  if $openmpi; then
    PATH=$dir/openmpi:$path follow -- "$(block '' 1 | tail -n 1)"
    expect 'Joined 4 workers by MPI: Open MPI' 'Optimization Done'
    PATH=$dir/openmpi:$path follow -- "$(words 'mpirun -np 4 swcaffe test' | sed 's/-model FILE/-model net.prototxt/; s/-weights FILE/-weights lenet_iter_20.caffemodel/')"
    expect 'accuracy = '
  fi
  echo "first page: its commands"
fi

two=false
if [ "$(id -u)" = 0 ] && have ip nsenter unshare && "$scripts/mpi/hosts.sh" start "$hosts"; then
  two=true
  mkdir "$dir/ssh"
  ln -s "$hosts/agent" "$dir/ssh/ssh"
fi

# cluster LIBRARY [EDIT] runs what the page says of hostfiles; EDIT makes the commands those of another MPI.
cluster() {
  local edit=${2:-} command
  command=$(block 'From a hostfile' 2 | sed "$edit")
  carried=$("$hosts/carried")
  follow "$hosts/on" 1 -- "$command"
  expect "Joined 4 workers by MPI: $1" 'Optimization Done'
  carried=$(($("$hosts/carried") - carried))
  [ $carried -gt 10000000 ] || fail "only $carried bytes went from host to host"
  follow "$hosts/on" 1 -- "$command"
  expect 'Restoring previous solver status from lenet_iter_20.solverstate'
  follow "$hosts/on" 1 -- "${command%%swcaffe *}$(words 'swcaffe allreduce')"
  expect '^ *ring '
  follow "$hosts/on" 1 -- "${command%%swcaffe *}swcaffe doctor -cluster $(words '-against')"
  expect '4 ranks on 2 computers' 'infiniband_fdr'
  echo "from a hostfile: trained, resumed, measured, $1"
}
if ! $two; then
  without "hostfile mpich kubernetes" "be root, with iproute2, util-linux and network namespaces"
else
  if part hostfile; then
    if $openmpi; then
      work hostfile
      block 'From a hostfile' 1 >hosts
      PATH=$dir/ssh:$dir/openmpi:$path cluster 'Open MPI'
    else
      without hostfile "install openmpi-bin libopenmpi-dev pkgconf gcc"
    fi
  fi
  if part mpich; then
    if have mpirun.mpich pkg-config gcc && pkg-config --exists mpich; then
      alive build mpich "$(block 'On a cluster' 1)"
      work mpich
      mkdir bin
      printf '#!/bin/sh\nexec mpirun.mpich "$@"\n' >bin/mpirun
      chmod +x bin/mpirun
      [[ $(cat "$page") = *'For MPICH the lines are `node1:2` and `node2:2`, and the flag is `-f hosts`.'* ]] || fail "it says something else of MPICH's hostfile"
      printf 'node1:2\nnode2:2\n' >hosts
      PATH=$PWD/bin:$dir/ssh:$dir/mpich:$path cluster MPICH 's/--hostfile hosts/-f hosts/'
    else
      without mpich "install mpich libmpich-dev pkgconf gcc"
    fi
  fi
fi

if part slurm && $openmpi && [ "$(id -u)" = 0 ] && have srun slurmctld slurmd munged; then
  export SLURM_CONF=$dir/slurm/slurm.conf PATH=$dir/openmpi:$path
  "$scripts/mpi/slurm.sh" start "$dir/slurm"
  # until_log TEXT waits for a line of the job.
  until_log() { for _ in $(seq 600); do ! grep -qE -- "$1" "$log" 2>/dev/null || return 0; sleep 0.2; done; fail "Slurm: the log has no \"$1\""; }
  until_ended() { for _ in $(seq 300); do [ -n "$(squeue -h -j "$1" -t PD,R,CG,S 2>/dev/null)" ] || return 0; sleep 0.2; done; fail "Slurm: job $1 does not end"; }
  work slurm 1000000
  block Slurm 1 >job.sh
  job=$(sbatch --parsable -o log job.sh)
  until_log 'Iteration [1-9].*, loss'
  scontrol requeue "$job"
  until_log 'Snapshotting solver state to'
  at=$(sed -n 's/.*Snapshotting solver state to .*lenet_iter_\([0-9]*\)\.solverstate.*/\1/p' log | tail -n 1)
  until_requeued() { for _ in $(seq 300); do [ "$(squeue -h -j "$job" -o %t)" != PD ] || return 0; sleep 0.2; done; fail "Slurm: job $job does not come back"; }
  until_requeued
  scontrol update JobId="$job" StartTime=now # Slurm waits two minutes
  until_log "Restoring previous solver status from lenet_iter_$at\.solverstate"
  until_log "Iteration $(((at / 5 + 2) * 5)).*, loss"
  scancel "$job"
  until_ended "$job"
  [ "$(ls lenet_iter_*.solverstate | sed 's/[^0-9]//g' | sort -n | tail -n 1)" -gt "$at" ] || fail "Slurm: a cancelled job has written no snapshot"
  echo "Slurm: requeued at iteration $at, went on there, and wrote a snapshot when it was cancelled"

  work array
  sed 's/"lenet"/"task@TASK@"/' solver.prototxt >solver.template
  job=$(sbatch --parsable -o log.%a --array=1-2 --wrap "$(block Slurm 2); swcaffe train -solver solver.\$SLURM_ARRAY_TASK_ID.prototxt")
  until_ended "$job"
  ls task1_iter_20.solverstate task2_iter_20.solverstate >/dev/null || fail "Slurm: tasks of an array"
  work elastic_slurm 40
  title='Elastic: workers may be lost and come back'
  block "$title" 5 >elastic.sh
  job=$(sbatch --parsable -o log -N 1 --wrap "$(block "$title" 4)")
  until_ended "$job"
  expect 'Workers: 4; training from the beginning' 'Optimization Done'
  echo "Slurm: an array, and an elastic training of one node"
  "$scripts/mpi/slurm.sh" stop "$dir/slurm"
elif part slurm; then
  without slurm "be root, and install slurm-wlm openmpi-bin libopenmpi-dev pkgconf gcc"
fi

if part kubernetes && $two; then
  work kubernetes
  block Kubernetes 1 >job.yaml
  crd=$(cd "$dir/swcaffe" && go mod download -json github.com/kubeflow/mpi-operator@v0.6.0 2>/dev/null | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')/manifests/base/kubeflow.org_mpijobs.yaml
  if ! [ -e "$crd" ] || ! python3 -c 'import yaml' 2>/dev/null; then
    without kubernetes "install python3-yaml; Go fetches the operator's module"
  else
    # Every field of the manifest must be in the schema, with its type and value; prints the launcher's command.
    python3 - "$crd" job.yaml >command <<'END'
import shlex, sys, yaml

def check(value, schema, path):
    if schema.get('x-kubernetes-int-or-string'):
        assert isinstance(value, (int, str)), path
        return
    kinds = {'object': dict, 'array': list, 'string': str, 'integer': int, 'boolean': bool}
    kind = schema['type']
    assert isinstance(value, kinds[kind]) and (kind == 'boolean' or not isinstance(value, bool)), '%s is no %s' % (path, kind)
    assert value in schema.get('enum', [value]), '%s: %r is none of %s' % (path, value, schema.get('enum'))
    assert kind != 'integer' or value >= schema.get('minimum', value), path
    for i, v in enumerate(value if kind == 'array' else []):
        check(v, schema['items'], '%s[%d]' % (path, i))
    if kind == 'object':
        missing = set(schema.get('required', [])) - set(value)
        assert not missing, '%s lacks %s' % (path, missing)
        fields = schema.get('properties', {})
        free = schema.get('additionalProperties', {'type': 'string'} if path.endswith('metadata.labels') else None)
        for name, v in value.items():
            if path != '.metadata':  # its schema is Kubernetes' own
                assert name in fields or free, '%s has no field %s' % (path, name)
                check(v, fields.get(name, free), path + '.' + name)

with open(sys.argv[1]) as f:
    crd = yaml.safe_load(f)
with open(sys.argv[2]) as f:
    job = yaml.safe_load(f)
version = [v for v in crd['spec']['versions'] if job['apiVersion'] == crd['spec']['group'] + '/' + v['name']]
assert version and version[0]['served'] and job['kind'] == crd['spec']['names']['kind'], (job['apiVersion'], job['kind'])
check(job, version[0]['schema']['openAPIV3Schema'], '')
replicas = job['spec']['mpiReplicaSpecs']
for name, spec in replicas.items():
    pod = spec['template']['spec']
    volumes = {v['name'] for v in pod['volumes']}
    for c in pod['containers']:
        assert {m['name'] for m in c['volumeMounts']} <= volumes, name
command = replicas['Launcher']['template']['spec']['containers'][0]['command']
assert str(replicas['Worker']['replicas'] * job['spec']['slotsPerWorker']) == command[command.index('-np') + 1] == command[command.index('-workers_expected') + 1], command
print(shlex.join(command))
END
    echo "Kubernetes: the manifest fits the schema of the MPI operator 0.6"
    if [ -x "$run" ]; then
      # One host for the launcher, and one for the workers, as the operator names them.
      echo "$(sed -n 2p "$hosts/addresses") lenet-worker-0.lenet.default.svc" >>"$hosts/names"
      echo 'lenet-worker-0.lenet.default.svc slots=4' >hostfile
      export SWHOST_RUN="env -u K_MPI_JOB_ROLE $run env PATH=$dir/static:/usr/bin"
      launcher=("$hosts/on" 1 env K_MPI_JOB_ROLE=launcher OMPI_MCA_orte_keep_fqdn_hostnames=true OMPI_MCA_orte_default_hostfile="$PWD/hostfile" OMPI_MCA_plm_rsh_args='-o ConnectionAttempts=10'
        PRTE_MCA_plm_ssh_agent="$hosts/agent" PRTE_MCA_bindto=none OMPI_MCA_btl_tcp_if_include=sw0 "$run" env "PATH=$dir/static:/usr/bin")
      command=$(sed "s|/etc/mpi/hostfile|$PWD/hostfile|; s/^mpirun/mpirun.openmpi/" command)
      follow "${launcher[@]}" -- "$command"
      expect 'Joined 4 workers by MPI: Open MPI v6' 'Optimization Done'
      # Without the flag, mpirun starts all in the launcher's pod.
      ! "${launcher[@]}" sh -c "${command/--hostfile $PWD\/hostfile/--map-by :oversubscribe}" >log 2>&1 || fail "all workers have trained in the launcher's pod"
      expect "in the launcher's pod"
      echo "Kubernetes: the launcher's command, with the operator's variables, under Open MPI 6"
    else
      without "the launcher's command" "scripts/mpi/libraries.sh"
    fi
  fi
fi

if part elastic; then
  export PATH=$dir/static:$path
  title='Elastic: workers may be lost and come back'
  work elastic
  follow -- "$(block "$title" 1)"
  expect 'Workers: 4; training from the beginning' 'Optimization Done'
  if $two; then
    work join 200
    "$hosts/on" 1 bash -euc "$(block "$title" 3 | head -n 1)" >log 2>&1 &
    until grep -qs 'join by' log; do
      kill -0 $! 2>/dev/null || fail "Elastic: it does not start"
      sleep 0.1
    done
    "$hosts/on" 2 bash -euc "$(block "$title" 3 | tail -n 1)" >joined.log 2>&1 || { cat joined.log >&2; fail "Elastic: -join"; }
    wait $!
    expect 'Workers: 8; training from' 'Optimization Done'
  fi
  echo "elastic: one computer, and two"
fi

if part simulated; then
  work simulated
  PATH=$dir/static:$path follow -- "$(block 'Virtual time' 1)"
  expect 'Simulated time: '
  echo "virtual time"
fi
