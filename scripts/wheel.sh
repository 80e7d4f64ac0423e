#!/usr/bin/env bash
# Builds the Python module caffe as a wheel, dist/swcaffe-VERSION-py3-none-PLATFORM.whl, and tries it. pip installs it
# without compiling anything and without a registry. Run it as
#
#     scripts/wheel.sh [x86_64|aarch64|windows [OUT [VENV]]]
#
# with Go, gcc and binutils of Debian; another architecture than this computer's needs its cross compiler (gcc-aarch64-linux-gnu), and Windows on
# x86_64 Debian's gcc-mingw-w64-x86-64. OUT is the folder of the wheel. VENV is the folder of the fresh environment in which the wheel is tried; it is
# removed at the end unless it is named; - tries nothing. $PYTHON is the interpreter of that environment, Debian's if unset; it needs numpy.
# The tag names the libc that the library needs, which is read from its symbols. The version is $VERSION, the git tag, or 0.0.0.devDATE+gCOMMIT.
# $STAMP is for Go's linker; scripts/release.sh gives the commit there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/alive.sh

arch=${1:-$(uname -m)} out=${2:-dist}
python=${PYTHON:-/usr/bin/python3}
os=linux library=libswcaffe.so
case $arch in
  x86_64) goarch=amd64 triple=x86_64-linux-gnu package=gcc-x86-64-linux-gnu ;;
  aarch64 | arm64) arch=aarch64 goarch=arm64 triple=aarch64-linux-gnu package=gcc-aarch64-linux-gnu ;;
  windows) os=windows arch=amd64 goarch=amd64 triple=x86_64-w64-mingw32 package=gcc-mingw-w64-x86-64 library=libswcaffe.dll ;;
  *) echo "$0: architecture $arch: must be x86_64, aarch64 or windows" >&2; exit 2 ;;
esac
cc=$triple-gcc objdump=$triple-objdump
for tool in go git python3 "$cc" "$objdump"; do
  command -v "$tool" >/dev/null || { echo "$0: needs $tool (Debian: $package, git, python3; and Go)" >&2; exit 1; }
done

version=${VERSION:-$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null | sed 's/^v//')} || version=
[ -n "$version" ] || version=0.0.0.dev$(TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M%S --format=%cd)+g$(git rev-parse --short=12 HEAD)
version=${version/-/} # 1.0.0-rc.1 is 1.0.0rc.1 to Python
date=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" +%Y-%m-%dT%H:%M:%SZ)

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
venv=${3:-$tree/venv}
library=$tree/$library
echo "building $(basename "$library") for $arch"
CGO_ENABLED=1 GOOS=$os GOARCH=$goarch CC=$cc \
  alive go build -buildmode=c-shared -trimpath -ldflags "-s -w -buildid= ${STAMP:-}" -o "$library" ./cmd/libswcaffe

# What the library needs of the system it is loaded on.
if [ "$os" = windows ]; then
  needs=$("$objdump" -p "$library" | sed -n 's/^\tDLL Name: //p' | sort | tr '\n' ' ')
  [ "$needs" = 'KERNEL32.dll msvcrt.dll ' ] || { echo "$0: the library needs $needs" >&2; exit 1; }
  platform=win_$arch
else
  needs=$("$objdump" -p "$library" | awk '$1 == "NEEDED" { print $2 }' | sort | tr '\n' ' ')
  glibc=$("$objdump" -T "$library" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
  for l in $needs; do
    case $l in
      libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | ld-linux-*) ;;
      *) echo "$0: the library needs $l, which a manylinux wheel may not" >&2; exit 1 ;;
    esac
  done
  [ -n "$glibc" ] || { echo "$0: no version of glibc in the symbols of the library" >&2; exit 1; }
  platform=manylinux_${glibc//./_}_$arch
fi
echo "needs $needs${glibc:+with glibc $glibc or newer}"

rm -f "$out"/swcaffe-*_"$arch".whl # older versions
mkdir "$tree/bill"
go run ./internal/app/bill -program "$library" -date "$date" -licences "$tree/bill/LICENSES.txt" -cyclonedx "$tree/bill/swcaffe.cdx.json" -spdx "$tree/bill/swcaffe.spdx.json"
wheel=$(python3 scripts/wheel.py -library "$library" -bill "$tree/bill" -version "$version" -platform "$platform" -out "$out")
echo "$wheel: $(stat -c %s "$wheel") bytes"
[ "$venv" != - ] || exit 0

# The wheel must install into a fresh environment and load there. A library for another architecture must at least load and answer.
if [ "$arch" = "$(uname -m)" ]; then
  # The environment does without a pip of its own, which takes seconds to install: pip runs from the wheel that comes with Python.
  "$python" -m venv --system-site-packages --without-pip "$venv"
  pip=$("$python" -c 'import ensurepip, glob, os, sysconfig
folder = sysconfig.get_config_var("WHEEL_PKG_DIR") or os.path.join(os.path.dirname(ensurepip.__file__), "_bundled")
print(glob.glob(os.path.join(glob.escape(folder), "pip-*.whl"))[0])')
  PYTHONPATH=$pip "$venv/bin/python" -m pip install -q --no-index --no-deps --disable-pip-version-check "$wheel"
  venv=$(realpath "$venv")
  (cd "$tree" && "$venv/bin/python" -c 'import caffe; print("import caffe:", len(caffe.layer_type_list()), "layer types")')
elif [ "$os" = windows ]; then
  echo "not loaded: scripts/release_check.sh does it under Debian's wine"
elif command -v "qemu-$arch" >/dev/null; then
  "$cc" -o "$tree/load" scripts/wheel_load.c
  "qemu-$arch" -L "/usr/$triple" "$tree/load" "$library"
else
  echo "not loaded: qemu-$arch (Debian: qemu-user) is not installed"
fi
