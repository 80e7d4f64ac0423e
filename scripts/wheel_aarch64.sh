#!/usr/bin/env bash
# Builds the Python module's wheel for aarch64 with Debian's cross compiler, and runs the module's suite, python/tests, on it under qemu-user:
# with Debian's own Python, numpy and protobuf for arm64, which are unpacked and not installed. This takes ten minutes or more, so the check
# does not do it.
#
#     scripts/wheel_aarch64.sh [TEST...]      TEST is a module, class or test of the suite, such as test_net; without any: all but the examples
#
# The wheel goes to dist/, all else to build/aarch64. Needs Debian on another architecture and root or sudo, for the compiler and qemu.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/alive.sh

dir=$PWD/build/aarch64
tests=("$@")
if [ $# = 0 ]; then # all but the examples, whose nets learn for long under qemu
  mapfile -t tests < <(cd python/tests && ls test_*.py | sed 's/\.py$//' | grep -v '^test_examples$')
fi

packages=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user python3-pip)
if ! dpkg-query -W "${packages[@]}" >/dev/null 2>&1; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
  [ "$(id -u)" = 0 ] || as_root=(sudo "${as_root[@]}")
  alive "${as_root[@]}" apt-get update -qq
  alive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

scripts/wheel.sh aarch64 dist
wheel=$(ls dist/swcaffe-*_aarch64.whl)

# An apt of its own for arm64, which finds all that Python, numpy and protobuf need.
if [ ! -e "$dir/root/usr/bin/python3" ]; then
  echo "fetching Debian's Python for arm64"
  rm -rf "$dir"
  mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$dir/root"
  : >"$dir/apt/status"
  apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root -o Dir::State::lists="$dir/apt/lists"
    -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt")
  alive "${apt[@]}" update
  alive "${apt[@]}" install --download-only --no-install-recommends python3-numpy python3-protobuf >/dev/null
  for deb in "$dir"/apt/archives/*.deb; do
    dpkg-deb -x "$deb" "$dir/root"
  done
  # Links that Debian's packages make when they are installed.
  ln -s blas/libblas.so.3 lapack/liblapack.so.3 "$dir/root/usr/lib/aarch64-linux-gnu/"
  rm -r "$dir/apt"
fi

rm -rf "$dir/site"
python3 -m pip install -q --disable-pip-version-check --no-index --no-deps --only-binary :all: --platform "$(echo "$wheel" | grep -o 'manylinux_.*_aarch64')" \
  --target "$dir/site" "$wheel"

# The interpreter, also of programs that the tests start: their sys.executable. The wheel's programs are beside it.
python=$dir/site/bin/python
cat >"$python" <<END
#!/bin/sh
PYTHONHOME=$dir/root/usr PYTHONPATH=\${PYTHONPATH:+\$PYTHONPATH:}$dir/site:$dir/root/usr/lib/python3/dist-packages \\
  exec qemu-aarch64 -L $dir/root $dir/root/usr/bin/python3 "\$@"
END
chmod +x "$python"
echo "import sys; sys.executable = '$python'" >"$dir/site/sitecustomize.py"

"$python" -c 'import caffe, platform; print("import caffe on %s: %d layer types" % (platform.machine(), len(caffe.layer_type_list())))'
cd python/tests
GLOG_minloglevel=2 PYTHONDONTWRITEBYTECODE=1 SWCAFFE_PY_TIMEOUT=1200 alive "$python" -m unittest "${tests[@]}"
