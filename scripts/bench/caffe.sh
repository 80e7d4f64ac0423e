#!/usr/bin/env bash
# Fetches BVLC Caffe 1.0 with OpenBLAS, which Debian 11 was the last to have, and unpacks it with its own libraries, so that bench.sh
# can measure it on later systems too; nothing is installed. Writes DIR/caffe, which takes caffe's arguments.
#
#   [MIRROR=URL] scripts/bench/caffe.sh [DIR]
#
# DIR is build/bench/caffe by default. MIRROR is a mirror of Debian, by default the one in apt's configuration.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=$(realpath -m "${1:-build/bench/caffe}")
# The mirror that apt has Debian itself from, not its security updates; any mirror of Debian has all releases that are not archived.
mirror=${MIRROR:-$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 's/^Debian //p' | head -n 1)}
[ -n "$mirror" ] || { echo "apt knows no mirror of Debian (apt-get indextargets); name one: MIRROR=http://..." >&2; exit 1; }
echo "taking Debian 11 from $mirror"
rm -rf "$dir"
mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial" "$dir/root"

# An apt of its own, to which nothing is installed, so that it finds all that Caffe needs.
: >"$dir/apt/status"
echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main contrib" >"$dir/apt/sources.list"
apt=(apt-get -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root -o Acquire::Check-Valid-Until=false
  -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/apt/lists"
  -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt")
"${apt[@]}" update
"${apt[@]}" install --download-only --no-install-recommends caffe libopenblas0-pthread >/dev/null
for deb in "$dir"/apt/archives/*.deb; do
  dpkg-deb -x "$deb" "$dir/root"
done
rm -r "$dir/apt"

cat >"$dir/caffe" <<'END'
#!/bin/sh
# Caffe with the libraries beside it, OpenBLAS's before the reference BLAS.
root=$(dirname "$(readlink -f "$0")")/root
lib=x86_64-linux-gnu
path=$root/usr/lib/$lib/openblas-pthread:$root/usr/lib/$lib:$root/lib/$lib:$root/usr/lib:$root/usr/lib/$lib/blas:$root/usr/lib/$lib/lapack
exec "$root/lib/$lib/ld-2.31.so" --library-path "$path" "$root/usr/bin/caffe" "$@"
END
chmod +x "$dir/caffe"
"$dir/caffe" -version
