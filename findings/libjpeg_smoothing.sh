#!/usr/bin/env bash
# libjpeg-turbo 2.0 and 2.1 give different pixels of the same progressive JPEG if it ends before its last scans, as after a broken download.
# Both estimate the missing coefficients from the mean values of neighbouring blocks: 2.0 from 3x3 blocks, 2.1 from 5x5. The whole file has
# the same pixels in both.
#
# Guess: releases of one decoder agree bit by bit, as they do for whole files.
# Seen:  most pixels of the shortened file differ, and neither program exits with an error.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# An apt of its own for a Debian release; nothing is installed.
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 's/^Debian //p' | head -n 1)
[ -n "$mirror" ] || { echo "apt knows no mirror of Debian: run this on Debian" >&2; exit 1; }
fetch() { # RELEASE PACKAGE=VERSION...
  mkdir -p "$1/lists/partial" "$1/archives/partial" "$1/root"
  : >"$1/status"
  echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $1 main" >"$1/sources.list"
  local apt=(apt-get -qq -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User=root -o Acquire::Check-Valid-Until=false
    -o Dir::Etc::sourcelist="$dir/$1/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/$1/lists"
    -o Dir::State::status="$dir/$1/status" -o Dir::Cache="$dir/$1" -o Acquire::Languages=none)
  "${apt[@]}" update
  (cd "$1" && "${apt[@]}" download "${@:2}" && for deb in *.deb; do dpkg-deb -x "$deb" root; done)
}
fetch bullseye libjpeg-turbo-progs=1:2.0.6-4 libjpeg62-turbo=1:2.0.6-4
fetch bookworm libjpeg-turbo-progs=1:2.1.5-2 libjpeg62-turbo=1:2.1.5-2
tool() { LD_LIBRARY_PATH="$dir/$1/root/usr/lib/x86_64-linux-gnu" "$dir/$1/root/usr/bin/$2" "${@:3}"; }
for release in bullseye bookworm; do tool $release djpeg -version 2>&1 | head -n 1; done

# A grey picture of 64x64 as a progressive JPEG: the first scan has the blocks' means, the second the rest. The shortened file ends between them.
awk 'BEGIN { print "P2\n64 64\n255"; for (y = 0; y < 64; y++) for (x = 0; x < 64; x++) print int(x * x / 20 + 3 * y + x * y / 16) % 256 }' >picture.pgm
printf '0: 0-0, 0, 0;\n0: 1-63, 0, 0;\n' >scans
tool bookworm cjpeg -quality 90 -scans scans picture.pgm >whole.jpg
second=$(LC_ALL=C grep -obUaP '\xff\xda' whole.jpg | LC_ALL=C cut -d: -f1 | sed -n 2p)
{ head -c "$second" whole.jpg; printf '\xff\xd9'; } >short.jpg

for file in whole short; do
  for release in bullseye bookworm; do
    tool $release djpeg -pnm $file.jpg >$file.$release.pgm
  done
  differ=$(cmp -l $file.bullseye.pgm $file.bookworm.pgm | wc -l) || true
  echo "$file.jpg: $differ of 4096 pixels differ; the first 8 of row 5: 2.0.6:" \
    "$(tail -c 4096 $file.bullseye.pgm | od -An -tu1 -j320 -N8), 2.1.5:$(tail -c 4096 $file.bookworm.pgm | od -An -tu1 -j320 -N8)"
  echo "$differ" >$file.differ
done
[ "$(cat whole.differ)" = 0 ] && [ "$(cat short.differ)" -gt 1000 ] || { echo "the behaviour has changed" >&2; exit 1; }
