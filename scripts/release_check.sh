#!/usr/bin/env bash
# Installs and runs what scripts/release.sh has made, as far as this computer can.
#
#   scripts/release_check.sh [DIR]
#
# DIR is dist/release. These are the ways, and what of Debian they need:
#
#   archives      for Linux on this processor, and on the other one by qemu-user-static
#   install.sh    from the folder; and from one with a damaged archive, which it must refuse
#   deb           dpkg installs and removes it in a fresh Debian (mmdebstrap, root)
#   rpm           rpm installs and removes it in an empty root (rpm, root)
#   image         podman loads and runs it (podman, runc, root)
#   wheels        pip installs that of this processor into a fresh environment (python3-venv, python3-numpy); a program of C loads the other ones: by
#                 qemu-user-static (gcc-aarch64-linux-gnu), and by Windows's (gcc-mingw-w64-x86-64)
#   Windows       wine runs the program (wine64). Its version 8 lacks the library bcryptprimitives.dll, from which Go's programs get random numbers; one with
#                 that function alone, in C, stands in (gcc-mingw-w64-x86-64)
#
# Of each program it looks at the version, renders digits, trains LeNet, resumes it in the middle, and compares the weights with those of an undisturbed
# training. The archive for this processor, its wheel and Windows's program are also stopped by SIGINT, and go on. It prints a line for each way, also for those that it leaves out, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
models=$PWD/models
dir=$(realpath "${1:-dist/release}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

(cd "$dir" && sha256sum -c --quiet SHA256SUMS)
echo "sums: $(wc -l <"$dir/SHA256SUMS") files are those of SHA256SUMS"
native=$(go env GOARCH)

# holds DIR FILE... fails unless all files are there, and not empty.
holds() {
  local file
  for file in "${@:2}"; do
    [ -s "$1/$file" ] || { echo "$1 has no $file" >&2; exit 1; }
  done
}

# try NAME ITERATIONS COMMAND... runs a program.
try() {
  local name=$1 iterations=$2 folder log
  shift 2
  folder=$scratch/$name log=$scratch/$name.log
  mkdir -p "$folder/models"
  cp -r "$models/lenet" "$folder/models/"
  (
    cd "$folder"
    version=$("$@" version | head -1)
    [[ $version == *" ${wanted}"* ]] || { echo "$name: version is \"$version\", not $wanted" >&2; exit 1; }
    "$@" dataset digits -train 640 -test 100 -out data
    sed -i "s/max_iter: .*/max_iter: $iterations/; s/test_interval: .*/test_interval: 1000000/; s/test_iter: .*/test_iter: 1/; s/snapshot: .*/snapshot: $((iterations / 2))/" models/lenet/solver.prototxt
    "$@" train -solver models/lenet/solver.prototxt
    mv "models/lenet/lenet_iter_$iterations.caffemodel" whole.caffemodel
    "$@" train -solver models/lenet/solver.prototxt -snapshot "models/lenet/lenet_iter_$((iterations / 2)).solverstate"
    cmp whole.caffemodel "models/lenet/lenet_iter_$iterations.caffemodel"
  ) >"$log" 2>&1 || { tail -5 "$log" >&2; echo "$name: failed" >&2; exit 1; }
  echo "$name: version $wanted; trains LeNet for $iterations iterations, and from iteration $((iterations / 2)) to the same weights"
}

# stop NAME COMMAND... stops a training by SIGINT.
stop() {
  local name=$1 pid
  shift
  (
    cd "$scratch/$name"
    sed -i 's/max_iter: .*/max_iter: 1000000/; s/snapshot: .*/snapshot: 1000000/' models/lenet/solver.prototxt
    rm -f models/lenet/*.solverstate
    "$@" train -solver models/lenet/solver.prototxt >stopped.log 2>&1 &
    pid=$!
    for _ in $(seq 100); do grep -q 'Iteration 0' stopped.log && break; sleep 0.1; done
    sleep 1
    kill -INT "$pid"
    wait "$pid" || exit # before ||, set -e has no effect
    ls models/lenet/*.solverstate >/dev/null
  ) || { tail -3 "$scratch/$name/stopped.log" >&2; echo "$name: SIGINT left no snapshot" >&2; exit 1; }
  (
    cd "$scratch/$name"
    at=$(ls models/lenet/*.solverstate)
    reached=${at##*_iter_} reached=${reached%.solverstate}
    sed -i "s/max_iter: .*/max_iter: $((reached + 2))/" models/lenet/solver.prototxt
    "$@" train -solver models/lenet/solver.prototxt -snapshot "$at" >resumed.log 2>&1
    ls "models/lenet/lenet_iter_$((reached + 2)).caffemodel" >/dev/null
  ) || { tail -3 "$scratch/$name/resumed.log" >&2; echo "$name: the training does not go on" >&2; exit 1; }
  echo "$name: SIGINT ends a training with a snapshot, from which it goes on"
}

for archive in "$dir"/swcaffe_*_linux_*.tar.xz; do
  base=$(basename "$archive" .tar.xz)
  arch=${base##*_} rest=${base#swcaffe_}
  wanted=v${rest%%_*}
  tar -C "$scratch" -xf "$archive"
  holds "$scratch/$base" completions/swcaffe.bash LICENSES.txt man/man1/swcaffe.1 man/man1/swcaffe-train.1
  if [ "$arch" = "$native" ]; then
    try "$base" 20 "$scratch/$base/swcaffe"
    stop "$base" "$scratch/$base/swcaffe"
    [[ $("$scratch/$base/swcaffe-mpi" version) == *" $wanted"* ]]
  elif qemu=$(command -v "qemu-${arch/arm64/aarch64}-static"); then
    try "$base" 2 "$qemu" "$scratch/$base/swcaffe"
  else
    echo "$base: left out; Debian's qemu-user-static runs it"
  fi
done

# The install script, from the folder; then from one whose archive has another byte: that writes nothing.
wanted=$(sed -n "s/^.* swcaffe_\(.*\)_linux_$native.tar.xz$/v\1/p" "$dir/SHA256SUMS")
"$dir/install.sh" -from "$dir" -to "$scratch/prefix" >/dev/null 2>&1
try install.sh 4 "$scratch/prefix/bin/swcaffe"
holds "$scratch/prefix/share" man/man1/swcaffe.1 bash-completion/completions/swcaffe doc/swcaffe/LICENSES.txt
mkdir "$scratch/damaged"
cp "$dir/SHA256SUMS" "$dir"/swcaffe_*_linux_"$native".tar.xz "$scratch/damaged/"
printf x >>"$(echo "$scratch/damaged/"*.tar.xz)"
if "$dir/install.sh" -from "$scratch/damaged" -to "$scratch/none" 2>"$scratch/refused" || [ -e "$scratch/none" ] || ! grep -q 'has the sum' "$scratch/refused"; then
  cat "$scratch/refused" >&2
  echo "install.sh: a damaged archive is not refused by its sum" >&2
  exit 1
fi
echo "install.sh: a damaged archive is refused, nothing is installed"

# within ROOT WORD... runs swcaffe in a root, where /mnt is the working directory.
within() {
  unshare -m sh -c 'root=$1 && shift && mount --bind . "$root/mnt" && exec unshare --root="$root" --wd=/mnt /usr/bin/swcaffe "$@"' - "$@"
}

if ! command -v mmdebstrap >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "deb: left out; needs Debian's mmdebstrap and root"
else
  mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 's/^Debian //p' | head -n 1)
  root=$scratch/debian
  mmdebstrap --quiet --variant=essential --mode=root "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" "$root" "$mirror" >"$scratch/mmdebstrap.log" 2>&1 || { tail -3 "$scratch/mmdebstrap.log" >&2; exit 1; }
  cp "$dir"/swcaffe_*_"$native".deb "$root/swcaffe.deb"
  chroot "$root" dpkg -i /swcaffe.deb >"$scratch/dpkg.log"
  holds "$root/usr/share" doc/swcaffe/copyright doc/swcaffe/LICENSES.txt bash-completion/completions/swcaffe
  mkdir -p "$root/mnt"
  try deb 4 within "$root"
  chroot "$root" dpkg --purge swcaffe >>"$scratch/dpkg.log"
  [ ! -e "$root/usr/bin/swcaffe" ] && [ ! -e "$root/usr/share/doc/swcaffe" ] || { echo "deb: dpkg leaves files" >&2; exit 1; }
  echo "deb: dpkg installs it in a fresh Debian, and removes it without a trace"
fi

if ! command -v rpm >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "rpm: left out; needs Debian's rpm and root"
else
  root=$scratch/rpmroot
  mkdir "$root"
  # Debian's rpm asks for --force-debian, since packages there are dpkg's; no package owns what is in this root.
  rpm --root "$root" --initdb
  rpm --root "$root" --force-debian -i "$dir"/swcaffe-*."${native/amd64/x86_64}".rpm
  rpm --root "$root" -V swcaffe
  holds "$root/usr/share" doc/swcaffe/LICENSES.txt zsh/site-functions/_swcaffe
  mkdir -p "$root/mnt"
  try rpm 4 within "$root"
  rpm --root "$root" --force-debian -e swcaffe
  [ ! -e "$root/usr/bin/swcaffe" ] || { echo "rpm: rpm leaves files" >&2; exit 1; }
  echo "rpm: rpm installs it in an empty root, finds its files whole, and removes it"
fi

# contained IMAGE WORD... runs an image, where /data is the working directory.
# With runc it does so in containers too, and with limits that ours allow.
podman=(podman --root "$scratch/containers" --runroot "$scratch/running" --runtime runc --storage-driver vfs --cgroup-manager cgroupfs --events-backend none --log-level error)
contained() { "${podman[@]}" run --rm --network none --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 -v "$PWD:/data" "$@"; }

for archive in "$dir"/swcaffe_*_oci.tar; do
  if ! command -v podman >/dev/null || ! command -v runc >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "image: left out; needs Debian's podman, runc and root"
    continue
  fi
  loaded=$("${podman[@]}" load -q -i "$archive" 2>"$scratch/podman.log") || { cat "$scratch/podman.log" >&2; exit 1; }
  try image 4 contained "${loaded##*: }"
  "${podman[@]}" system reset -f >/dev/null 2>&1
done

# loaded NAME WHEEL COMPILER COMMAND... loads the library of a wheel by a program of C.
loaded() {
  local name=$1 wheel=$2 compiler=$3 folder=$scratch/$1
  shift 3
  unzip -q -d "$folder" "$wheel"
  holds "$folder"/swcaffe-*.dist-info LICENSES.txt sboms/swcaffe.spdx.json sboms/swcaffe.cdx.json
  "$compiler" -o "$folder/load.exe" scripts/wheel_load.c
  echo "$name: $("$@" "$folder/load.exe" "$(ls "$folder"/caffe/libswcaffe.*)")"
}

for wheel in "$dir"/*.whl; do
  name=$(basename "$wheel" .whl)
  case $name in
    *_"${native/amd64/x86_64}")
      "${PYTHON:-/usr/bin/python3}" -m venv --system-site-packages "$scratch/venv"
      "$scratch/venv/bin/pip" install -q --no-index --no-deps --disable-pip-version-check "$wheel"
      try "$name" 4 "$scratch/venv/bin/python" -m caffe
      stop "$name" "$scratch/venv/bin/python" -m caffe
      ;;
    *_aarch64)
      if command -v qemu-aarch64-static >/dev/null && command -v aarch64-linux-gnu-gcc >/dev/null; then
        loaded "$name" "$wheel" aarch64-linux-gnu-gcc qemu-aarch64-static -L /usr/aarch64-linux-gnu
      else
        echo "$name: left out; Debian's qemu-user-static and gcc-aarch64-linux-gnu load it"
      fi
      ;;
    *-win_amd64) ;; # below
    *) echo "$name: left out; it is for another processor" ;;
  esac
done

windows=$(command -v wine64 || ls /usr/lib/wine/wine64 2>/dev/null) || windows=
mingw=$(command -v x86_64-w64-mingw32-gcc) || mingw=
if [ -z "$windows" ] || [ -z "$mingw" ]; then
  echo "Windows: left out; Debian's wine64 runs its program and loads its wheel, with gcc-mingw-w64-x86-64"
else
  export WINEPREFIX=$scratch/wine WINEDEBUG=-all DISPLAY=
  "$windows" wineboot -i >/dev/null 2>&1
  if [ ! -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ]; then
    cat >"$scratch/random.c" <<'END'
#include <windows.h>
#include <ntsecapi.h>
BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return RtlGenRandom(data, (ULONG)length); }
END
    "$mingw" -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" "$scratch/random.c" -ladvapi32
  fi
  for archive in "$dir"/swcaffe_*_windows_amd64.zip; do
    base=$(basename "$archive" .zip)
    unzip -q -d "$scratch" "$archive"
    holds "$scratch/$base" LICENSES.txt completions/swcaffe.bash man/man1/swcaffe.1
    try "$base" 20 "$windows" "$scratch/$base/swcaffe.exe"
    stop "$base" "$windows" "$scratch/$base/swcaffe.exe"
  done
  for wheel in "$dir"/*-win_amd64.whl; do
    loaded "$(basename "$wheel" .whl)" "$wheel" "$mingw" "$windows"
  done
fi
echo "left out: macOS, which needs a Mac; Windows on arm64"
