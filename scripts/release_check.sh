#!/usr/bin/env bash
# Installs and runs what scripts/release.sh has made, as far as this computer can: archives for Linux on this processor and, with Debian's
# qemu-user-static, on the other one; what the install script installs; the Debian and the RPM package, unpacked into a folder of their own; the image; Windows's
# program under Debian's wine.
#
#   scripts/release_check.sh [DIR]
#
# DIR is dist/release. Of each program it looks at the version, renders digits, trains LeNet, stops it by SIGINT where there are signals, resumes it, and
# compares the weights with those of an undisturbed training. It prints a line for each way, also for those that it leaves out, and why.
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
  echo "$name: SIGINT ends a training with a snapshot"
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

mkdir "$scratch/deb" "$scratch/rpm"
if command -v dpkg-deb >/dev/null; then
  dpkg-deb -x "$dir"/swcaffe_*_"$native".deb "$scratch/deb"
  try deb 4 "$scratch/deb/usr/bin/swcaffe"
else
  echo "deb: left out; there is no dpkg-deb"
fi
if command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
  # The paths in the package are absolute; cpio would write to them. rpm2cpio of rpm 4.18 ends with 1 also when it has written all.
  (cd "$scratch/rpm" && { rpm2cpio "$dir"/swcaffe-*."${native/amd64/x86_64}".rpm || true; } | cpio -id --no-absolute-filenames --quiet)
  try rpm 4 "$scratch/rpm/usr/bin/swcaffe"
else
  echo "rpm: left out; Debian's rpm2cpio and cpio unpack it"
fi

# The image's contents are all that a container has: its program runs in that folder alone.
for archive in "$dir"/swcaffe_*_oci.tar; do
  if ! command -v skopeo >/dev/null; then
    echo "image: left out; Debian's skopeo reads it"
  elif [ "$(id -u)" != 0 ]; then
    echo "image: left out; running it in a folder needs root"
  else
    skopeo --override-arch "$native" copy -q "oci-archive:$archive" "dir:$scratch/image"
    skopeo inspect "dir:$scratch/image" >"$scratch/image.json"
    grep -q "\"Architecture\": \"$native\"" "$scratch/image.json"
    mkdir "$scratch/root"
    layer=$(sed -n 's/^ *"sha256:\([0-9a-f]*\)".*/\1/p' "$scratch/image.json" | head -1)
    tar -C "$scratch/root" -xzf "$scratch/image/$layer"
    holds "$scratch/root" usr/share/doc/swcaffe/LICENSES.txt
    cp -r "$models" "$scratch/root/data/models"
    cat >"$scratch/inside" <<END
#!/bin/sh
exec chroot "$scratch/root" /usr/bin/swcaffe "\$@"
END
    chmod +x "$scratch/inside"
    [[ $("$scratch/inside" version | head -1) == *" $wanted"* ]]
    "$scratch/inside" dataset digits -train 640 -test 100 -out /data/digits >/dev/null 2>&1
    "$scratch/inside" time -model /data/models/lenet/deploy.prototxt -iterations 2 >/dev/null 2>&1
    echo "image: skopeo reads it for $native; the program renders digits and runs LeNet where nothing else is"
  fi
done

for archive in "$dir"/swcaffe_*_windows_"$native".zip; do
  base=$(basename "$archive" .zip)
  if wine=$(command -v wine64 || command -v wine || ls /usr/lib/wine/wine64 2>/dev/null); then
    unzip -q -d "$scratch" "$archive"
    export WINEPREFIX=$scratch/wine WINEDEBUG=-all DISPLAY=
    began=$("$wine" "$scratch/$base/swcaffe.exe" version 2>&1 || true)
    if [[ $began == *bcryptprimitives.dll* ]]; then
      echo "$base: left out; $("$wine" --version) has no bcryptprimitives.dll, which programs of Go need"
    else
      try "$base" 4 "$wine" "$scratch/$base/swcaffe.exe"
    fi
  else
    echo "$base: left out; Debian's wine64 runs it"
  fi
done
echo "left out: macOS, which needs a Mac"
