#!/usr/bin/env bash
# Starts Slurm on this computer alone, as root, with all its files in a folder, and stops it again.
#
#   scripts/mpi/slurm.sh start DIR; export SLURM_CONF=DIR/slurm.conf; srun -n 2 --mpi=pmix ...; scripts/mpi/slurm.sh stop DIR
#
# Debian's slurm-wlm is needed. The node has 32 places, whatever the number of processors.
set -euo pipefail
action=$1 dir=$(realpath -m "$2")

stop() {
  for daemon in slurmd slurmctld munged; do
    local pid
    pid=$(cat "$dir/$daemon.pid" 2>/dev/null) || continue
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  done
}

if [ "$action" = stop ]; then
  stop
  exit
fi

mkdir -p "$dir/state" "$dir/spool" "$dir/munge"
chmod 755 "$dir" "$dir/munge"
head -c 64 /dev/urandom >"$dir/munge.key"
chmod 400 "$dir/munge.key"
munged --force --key-file="$dir/munge.key" --socket="$dir/munge/socket" --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" \
  --seed-file="$dir/munge.seed" 2>/dev/null

# Ports that are free: another Slurm may run here.
port=$((20000 + RANDOM % 20000))
cat >"$dir/slurm.conf" <<END
ClusterName=one
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
JobRequeue=1
MinJobAge=3600
KillWait=10
SlurmdParameters=config_overrides
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=32 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4
END
export SLURM_CONF=$dir/slurm.conf
slurmctld -c
slurmd
for _ in $(seq 100); do
  [ "$(sinfo -h -o %t 2>/dev/null)" = idle ] && exit
  sleep 0.1
done
tail -n 5 "$dir"/*.log >&2
stop
exit 1
