#!/usr/bin/env bash
# mpirun of Open MPI 6.0 does not pass SIGTERM on to its processes, but SIGUSR1.
#
# Guess: SIGTERM to mpirun, which Kubernetes and batch systems send before they end a job, reaches the processes, as under MPICH; they have time to write
#        what they need to go on.
# Seen:  Open MPI 6.0.0rc2's mpirun ends the processes within a tenth of a second, with no signal that they could handle. SIGUSR1 reaches them at once,
#        and mpirun goes on.
#
# Needs gcc, and root or user namespaces; takes in 60 MB from Debian's unstable release.
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

# A process that writes down each signal, and ends after the first one that it can handle.
cat >rank.c <<'END'
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
static int out;
static void handler(int s) {
	const char *text = s == SIGTERM ? "SIGTERM\n" : s == SIGUSR1 ? "SIGUSR1\n" : "another\n";
	write(out, text, strlen(text));
	if (s != SIGCONT) _exit(0);
}
int main(void) {
	out = open("/tmp/signals", O_WRONLY | O_CREAT | O_APPEND, 0666);
	for (int s = 1; s < 32; s++)
		if (s != SIGCHLD) signal(s, handler);
	write(out, "ready\n", 6);
	sleep(60);
	return 0;
}
END
gcc -static rank.c -o root/tmp/rank 2>/dev/null
spaces=-m
[ "$(id -u)" = 0 ] || spaces=-rm

echo "Open MPI $openmpi"
for signal in TERM USR1; do
  rm -f root/tmp/signals
  unshare $spaces sh -c 'cd root && mount --rbind /dev dev && mount --rbind /proc proc && mount --rbind /sys sys && exec chroot . /bin/env PATH=/usr/bin HOME=/tmp OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"' sh \
    mpirun.openmpi --map-by :oversubscribe -np 2 /tmp/rank >out 2>&1 &
  launcher=$!
  for _ in $(seq 300); do
    [ "$(grep -c ready root/tmp/signals 2>/dev/null)" = 2 ] && break
    sleep 0.1
  done
  sleep 1
  kill -$signal $launcher
  status=0
  wait $launcher || status=$?
  echo "SIG$signal to mpirun: its exit code $status, two processes got: $(grep -v ready root/tmp/signals | tr '\n' ' ')" | sed 's/ $//' | tee $signal.out
done
grep -q 'got:$' TERM.out && grep -q 'exit code 0, two processes got: SIGUSR1 SIGUSR1$' USR1.out || { echo "the behaviour has changed" >&2; exit 1; }
