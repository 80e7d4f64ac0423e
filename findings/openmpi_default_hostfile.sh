#!/usr/bin/env bash
# mpirun of Open MPI 6.0 does not read the hostfile that Open MPI 4's variable names, and does not say so.
#
# Guess: OMPI_MCA_orte_default_hostfile, by which Kubernetes' MPI operator (0.6) tells mpirun of the workers' pods, means the same to every Open MPI, or is
#        refused. Open MPI 6 reports other old variables as deprecated, and takes them.
# Seen:  Open MPI 6.0.0rc2 starts a process for each core of this computer, as without a hostfile, with exit code 0. --hostfile works, and so does
#        PRTE_MCA_prte_default_hostfile.
#
# Needs root or user namespaces; takes in 60 MB from Debian's unstable release.
set -euo pipefail
openmpi=6.0.0~rc2-2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p lists/partial archives/partial root
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 's/^Debian //p' | head -n 1)
echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror unstable main" >sources.list
: >status
apt=(apt-get -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$dir/sources.list"
  -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/lists" -o Dir::State::status="$dir/status" -o Dir::Cache="$dir")
"${apt[@]}" update
"${apt[@]}" install --download-only --no-install-recommends "openmpi-bin=$openmpi" "libopenmpi40=$openmpi" coreutils dash >/dev/null
for deb in archives/*.deb; do dpkg-deb -x "$deb" root; done
for name in bin sbin lib lib64; do [ -e root/$name ] || ln -s usr/$name root/$name; done
mkdir -p root/dev root/proc root/sys root/tmp
places=$(($(nproc) + 3))
echo "localhost slots=$places" >root/tmp/hostfile
spaces=-m
[ "$(id -u)" = 0 ] || spaces=-rm

# started VARIABLE FLAG... runs mpirun without a number of processes, and prints how many it has started.
started() {
  unshare $spaces sh -c 'cd root && mount --rbind /dev dev && mount --rbind /proc proc && mount --rbind /sys sys && exec chroot . /bin/env PATH=/usr/bin HOME=/tmp OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"' sh \
    "$1" mpirun.openmpi "${@:2}" --bind-to none echo started | grep -c started
}
echo "Open MPI $openmpi; the hostfile has $places places"
none=$(started A=1)
echo "no hostfile: $none processes"
old=$(started OMPI_MCA_orte_default_hostfile=/tmp/hostfile)
echo "OMPI_MCA_orte_default_hostfile: $old processes"
new=$(started PRTE_MCA_prte_default_hostfile=/tmp/hostfile)
echo "PRTE_MCA_prte_default_hostfile: $new processes"
flag=$(started A=1 --hostfile /tmp/hostfile)
echo "--hostfile: $flag processes"
[ "$old" = "$none" ] && [ "$new" = "$places" ] && [ "$flag" = "$places" ] || { echo "the behaviour has changed" >&2; exit 1; }
