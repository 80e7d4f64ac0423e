#!/usr/bin/env bash
# A program of MPICH 5.0 that ends by _exit after MPI_Finalize, as programs in Go do, makes mpirun kill the other processes and return 9.
#
# Guess: after MPI_Finalize has returned, MPI does not care how a process ends.
# Seen:  MPICH 5.0 tells mpirun of the process's end in a handler of C's exit(). A process that ends without one counts as lost if others
#        still run: mpirun kills them and returns 9, although all have finished MPI. Open MPI 6.0 takes leave in MPI_Finalize itself.
#
# Needs gcc, and root or user namespaces; takes in 110 MB from Debian's unstable release.
set -euo pipefail
mpich=5.0.2-2 openmpi=6.0.0~rc2-2
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
"${apt[@]}" install --download-only --no-install-recommends "mpich=$mpich" "libmpich12=$mpich" "openmpi-bin=$openmpi" "libopenmpi40=$openmpi" coreutils dash >/dev/null
(cd archives && "${apt[@]}" download "libmpich-dev=$mpich" 2>/dev/null)
for deb in archives/*.deb; do dpkg-deb -x "$deb" root; done
for name in bin sbin lib lib64; do [ -e root/$name ] || ln -s usr/$name root/$name; done
mkdir -p root/dev root/proc root/sys root/tmp

lib=root/usr/lib/x86_64-linux-gnu
cat >end.c <<'END'
#include <mpi_abi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
	int provided, rank;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	usleep(200000 * rank); /* the processes end one after the other */
	if (strcmp(argv[1], "_exit") == 0) _exit(0);
	exit(0);
}
END
for family in mpich openmpi; do
  gcc -I$lib/mpich/include end.c -o root/tmp/end-$family -Wl,--unresolved-symbols=ignore-in-shared-libs $lib/libmpi_abi_$family.so.1.0.0
done
in_root() {
  local spaces=-m
  [ "$(id -u)" = 0 ] || spaces=-rm
  unshare $spaces sh -c 'cd root && mount --rbind /dev dev && mount --rbind /proc proc && mount --rbind /sys sys && exec chroot . /bin/env PATH=/usr/bin HOME=/tmp "$@"' sh "$@"
}

echo "MPICH $mpich, Open MPI $openmpi"
changed=0
for family in mpich openmpi; do
  # Both libraries have the soname libmpi_abi.so.1.
  ln -sf libmpi_abi_$family.so.1.0.0 $lib/libmpi_abi.so.1
  for how in exit _exit; do
    launch=(mpirun.mpich -np 4)
    [ $family = mpich ] || launch=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --map-by :oversubscribe -np 4)
    code=0
    in_root "${launch[@]}" /tmp/end-$family $how >out 2>&1 || code=$?
    echo "$family, $how(0) after MPI_Finalize in each of 4 processes: mpirun returns $code"
    want=0
    [ $family.$how != mpich._exit ] || want=9
    [ $code = $want ] || { tail -n 5 out; changed=1; }
  done
done
[ $changed = 0 ] || { echo "the behaviour has changed"; exit 1; }
