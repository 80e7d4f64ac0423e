#!/usr/bin/env bash
# Fetches packages of another release of Debian's, the unstable one or RELEASE, and unpacks them, with all that they need, into a folder; nothing is installed. Writes DIR/run, which runs a
# command line with the folder's /usr in place of the system's: all else stays where it is.
#
#   [MIRROR=URL] [RELEASE=NAME] scripts/unstable.sh DIR PACKAGE...
#   scripts/unstable.sh build/torch python3-torch && build/torch/run python3 -c 'import torch; print(torch.__version__)'
#
# MIRROR is a mirror of Debian, by default the one in apt's configuration. Debian on amd64, root or user namespaces are needed.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 1 ] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2; exit 2; }
dir=$(realpath -m "$1")
shift
mirror=${MIRROR:-$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 's/^Debian //p' | head -n 1)}
[ -n "$mirror" ] || { echo "apt knows no mirror of Debian (apt-get indextargets); name one: MIRROR=http://..." >&2; exit 1; }
release=${RELEASE:-unstable}
echo "taking $* of Debian $release from $mirror"
rm -rf "$dir"
mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$dir/root"

# An apt of its own, to which nothing is installed, so that it finds all that the libraries need.
: >"$dir/apt/status"
echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$dir/apt/sources.list"
apt=(apt-get -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root -o Acquire::Check-Valid-Until=false
  -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/apt/lists"
  -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt")
"${apt[@]}" update
"${apt[@]}" install --download-only --no-install-recommends coreutils dash "$@" >/dev/null
for deb in "$dir"/apt/archives/*.deb; do
  dpkg-deb -x "$deb" "$dir/root"
done
rm -r "$dir/apt"
for name in bin sbin lib lib64; do
  [ -e "$dir/root/$name" ] || ln -s "usr/$name" "$dir/root/$name"
done
# Packages that are installed say which of several libraries of a name is meant (update-alternatives); here any is.
for name in libblas.so.3 liblapack.so.3; do
  found=$(find "$dir/root/usr/lib" -name $name -print -quit)
  [ -z "$found" ] || [ -e "$dir/root/usr/lib/x86_64-linux-gnu/$name" ] || ln -s "${found#"$dir/root"}" "$dir/root/usr/lib/x86_64-linux-gnu/$name"
done
# What the C library's own folders of the system would be mounted over, and what the folder has itself, stays out of sight.
for path in /*; do
  case $path in /usr | /etc | /bin | /sbin | /lib* | /proc) ;; *) [ -L "$path" ] || [ ! -d "$path" ] || mkdir -p "$dir/root$path" ;; esac
done
mkdir -p "$dir/root/proc"

cat >"$dir/run" <<'END'
#!/bin/sh
# Runs a command line with the /usr and /etc beside this file.
root=$(dirname "$(readlink -f "$0")")/root here=$(pwd)
spaces=-m
[ "$(id -u)" = 0 ] || spaces=-rm
export root here
exec unshare $spaces sh -c '
  for path in /*; do
    case $path in /usr | /etc | /bin | /sbin | /lib*) ;; *) [ -L "$path" ] || [ ! -d "$root$path" ] || mount --rbind "$path" "$root$path" ;; esac
  done
  exec chroot "$root" /bin/env -C "$here" PATH=/usr/bin HOME="${HOME:-/}" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"' sh "$@"
END
chmod +x "$dir/run"
