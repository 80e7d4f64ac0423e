#!/usr/bin/env bash
# MPI_Init of MPICH 4.0 puts a handler of its own before the program's for SIGUSR1, the signal that batch systems and mpirun pass on, and that handler
# does not run on the stack for signals that the program has asked for.
#
# Guess: MPI_Init leaves handlers alone that the program has installed before.
# Seen:  MPICH 4.0.2's handler calls the program's, but on the stack at hand: SA_ONSTACK, which the program had set, is gone. Programs whose stacks are
#        small, as those in Go, are ended by their runtime at some SIGUSR1s. Open MPI 4.1.4 leaves the handler alone, and both leave that for SIGTERM.
#
# Takes Debian 12's packages into a folder; needs gcc and apt-get.
set -euo pipefail
mpich=4.0.2-3+b1 openmpi=4.1.4-3+b1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p lists/partial archives/partial root
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 's/^Debian //p' | head -n 1)
echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >sources.list
: >status
apt=(apt-get -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root -o Dir::Etc::sourcelist="$dir/sources.list"
  -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/lists" -o Dir::State::status="$dir/status" -o Dir::Cache="$dir")
"${apt[@]}" update
"${apt[@]}" install --download-only --no-install-recommends "libmpich12=$mpich" "libmpich-dev=$mpich" "libopenmpi3=$openmpi" "libopenmpi-dev=$openmpi" >/dev/null
for deb in archives/*.deb; do dpkg-deb -x "$deb" root; done
lib=$dir/root/usr/lib/x86_64-linux-gnu

cat >handler.c <<'END'
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static char *low, *high;
static volatile sig_atomic_t calls, inside;
static void handler(int s) {
	char here;
	calls++;
	inside = &here > low && &here < high;
}
static void look(const char *name, int s) {
	calls = inside = 0;
	raise(s);
	struct sigaction now;
	sigaction(s, NULL, &now);
	printf("%s: calls %d, on the program's stack for signals %d, handler is the program's %d\n", name, (int)calls, (int)inside, now.sa_handler == handler);
}
int main(void) {
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	low = stack.ss_sp, high = low + (1 << 16);
	sigaltstack(&stack, NULL);
	struct sigaction a = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART};
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	int provided;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	look("SIGUSR1", SIGUSR1);
	look("SIGTERM", SIGTERM);
	MPI_Finalize();
	return 0;
}
END
gcc -I$lib/mpich/include -I$dir/root/usr/include/x86_64-linux-gnu/mpich handler.c -o handler-mpich -Wl,--unresolved-symbols=ignore-in-shared-libs "$lib"/libmpich.so.12
gcc -I$lib/openmpi/include handler.c -o handler-openmpi -Wl,--unresolved-symbols=ignore-in-shared-libs "$lib"/openmpi/lib/libmpi.so.40 2>/dev/null ||
  gcc -I$lib/openmpi/include handler.c -o handler-openmpi -Wl,--unresolved-symbols=ignore-in-shared-libs "$lib"/libmpi.so.40
export LD_LIBRARY_PATH=$lib:$lib/openmpi/lib:$lib/pmix2/lib OPAL_PREFIX=$dir/root/usr OMPI_MCA_plm_rsh_agent=true
echo "MPICH $mpich"
./handler-mpich | tee mpich.out
echo "Open MPI $openmpi"
./handler-openmpi 2>/dev/null | tee openmpi.out || true
grep -qx "SIGUSR1: calls 1, on the program's stack for signals 0, handler is the program's 0" mpich.out || { echo "the behaviour has changed" >&2; exit 1; }
grep -qx "SIGTERM: calls 1, on the program's stack for signals 1, handler is the program's 1" mpich.out || { echo "the behaviour has changed" >&2; exit 1; }
