#!/bin/sh
# Installs a release of swcaffe for Linux or macOS: programs, shells' completions, manual pages and licences.
#
#   scripts/install.sh [-from FOLDER|URL] [-version vX.Y.Z] [-to PREFIX]
#
#   -from     a folder or an address with the files of scripts/release.sh; by default the project's releases on GitHub
#   -version  the version there; by default the newest. It goes with GitHub alone: a folder or address has one version
#   -to       bin/ and share/ are written below it: $HOME/.local by default
#
# The archive's sum must be that of SHA256SUMS. Nothing is written below PREFIX before it is. It needs tar, xz, sha256sum or shasum, and curl or wget for
# addresses.
set -eu

fail() {
  echo "$0: $*" >&2
  exit 1
}

releases=https://github.com/swcaffe/swcaffe/releases
from='' version='' prefix=${HOME:+$HOME/.local}
while [ $# -gt 0 ]; do
  case $1 in
    -h | -help | --help) sed -n '2,/^set/s/^#\( \|$\)//p' "$0" && exit ;;
    -from | -version | -to) [ $# -gt 1 ] && [ -n "$2" ] || fail "$1 needs a value" ;;
    *) fail "unknown argument $1; there are -from, -version and -to" ;;
  esac
  case $1 in
    -from) from=$2 ;;
    -version) version=$2 ;;
    -to) prefix=$2 ;;
  esac
  shift 2
done
[ -z "$from" ] || [ -z "$version" ] || fail "-version $version and -from $from: a folder or address has one version"
[ -n "$prefix" ] || fail "there is no \$HOME; -to says where to install"
if [ -z "$from" ]; then
  from=$releases/latest/download
  [ -z "$version" ] || from=$releases/download/$version
fi

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there are programs for Linux and macOS, not for $(uname -s); on Windows, unpack swcaffe_VERSION_windows_ARCH.zip" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there are programs for amd64 and arm64, not for $(uname -m); Go builds it from source" ;;
esac

if command -v sha256sum >/dev/null; then
  sum() { sha256sum <"$1" | cut -d ' ' -f 1; }
elif command -v shasum >/dev/null; then
  sum() { shasum -a 256 <"$1" | cut -d ' ' -f 1; }
else
  fail "needs sha256sum or shasum"
fi
command -v xz >/dev/null || fail "needs xz (Debian: xz-utils)"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# fetch NAME brings a file of the release into the scratch folder.
fetch() {
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then
        curl -fsSL -o "$scratch/$1" "$from/$1" || fail "cannot fetch $from/$1"
      elif command -v wget >/dev/null; then
        wget -q -O "$scratch/$1" "$from/$1" || fail "cannot fetch $from/$1"
      else
        fail "needs curl or wget to fetch $from/$1"
      fi
      ;;
    *)
      [ -f "$from/$1" ] || fail "there is no $from/$1"
      cp "$from/$1" "$scratch/$1"
      ;;
  esac
}

fetch SHA256SUMS
archive=$(sed -n "s/^[0-9a-f]\{64\} [ *]\(swcaffe_[0-9A-Za-z.-]*_${os}_$arch\.tar\.xz\)\$/\1/p" "$scratch/SHA256SUMS")
[ -n "$archive" ] || fail "$from/SHA256SUMS has no archive for $os on $arch"
[ "$(echo "$archive" | wc -l)" -eq 1 ] || fail "$from/SHA256SUMS has several archives for $os on $arch:
$archive"
fetch "$archive"
wanted=$(sed -n "s/^\([0-9a-f]\{64\}\) [ *]$archive\$/\1/p" "$scratch/SHA256SUMS")
got=$(sum "$scratch/$archive")
[ "$got" = "$wanted" ] || fail "$from/$archive has the sum $got, SHA256SUMS says $wanted"
xz -dc "$scratch/$archive" | tar -C "$scratch" -xf -
tree=$scratch/${archive%.tar.xz}
"$tree/swcaffe" version >/dev/null || fail "the program of $archive does not run here"

# put FILE MODE FOLDER [NAME] replaces a file in one step, also a program that runs.
put() {
  mkdir -p "$prefix/$3"
  cp "$1" "$prefix/$3/.${4:-${1##*/}}.new"
  chmod "$2" "$prefix/$3/.${4:-${1##*/}}.new"
  mv -f "$prefix/$3/.${4:-${1##*/}}.new" "$prefix/$3/${4:-${1##*/}}"
}
for page in "$tree"/man/man1/*; do put "$page" 644 share/man/man1; done
put "$tree/completions/swcaffe.bash" 644 share/bash-completion/completions swcaffe
put "$tree/completions/_swcaffe" 644 share/zsh/site-functions
put "$tree/completions/swcaffe.fish" 644 share/fish/vendor_completions.d
for text in "$tree"/*.md "$tree"/LICENSE "$tree"/LICENSES.txt; do put "$text" 644 share/doc/swcaffe; done
[ ! -e "$tree/swcaffe-mpi" ] || put "$tree/swcaffe-mpi" 755 bin
put "$tree/swcaffe" 755 bin

"$prefix/bin/swcaffe" version | head -n 1
echo "installed below $prefix" >&2
case :$PATH: in
  *:"$prefix/bin":*) ;;
  *) echo "the shell finds it after: export PATH=\"$prefix/bin:\$PATH\"" >&2 ;;
esac
