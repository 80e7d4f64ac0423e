#!/usr/bin/env bash
# Follows the first page as a new user: makes a fresh Debian (mmdebstrap), puts Go and this commit into it, and there runs the commands of README.md as they
# stand, a door after the other. It prints what they print, and the seconds of each door. The first command that fails ends it.
#
#   scripts/doors.sh [DIR]
#
# DIR gets the root, is made anew and stays; without it the root goes at the end. It needs root, mmdebstrap and Go. Of this computer it takes Go, the certificates of its network, and
# Go's settings for modules; what a user has at hand is made: a trained LeNet with its files, and a folder of photographs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/alive.sh

if [ $# -gt 0 ]; then
  root=$(realpath -m "$1")
else
  folder=$(mktemp -d)
  trap 'rm -rf --one-file-system "$folder"' EXIT
  root=$folder/debian
fi
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | sed -n 's/^Debian //p' | head -n 1)
rm -rf --one-file-system "$root"
mkdir -p "$(dirname "$root")"
[ -n "$mirror" ] || { echo "$0: apt knows no mirror of Debian (apt-get indextargets)" >&2; exit 1; }
alive mmdebstrap --quiet --variant=apt --mode=root "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" "$root" "$mirror"
mkdir -p "$root/usr/local" "$root/etc/ssl" "$root/swcaffe" "$root/work"
cp -r "$(go env GOROOT)" "$root/usr/local/go"
cp -rL /etc/ssl/certs "$root/etc/ssl/"
cp -L /etc/resolv.conf "$root/etc/"
git clone -q . "$root/swcaffe"

# The commands of a section of README.md: its indented lines, without the outputs behind #.
commands() { awk -v title="$1" '/^## / { here = $0 == "## " title } /^# / { here = title == "" } here && /^    / { sub(/^    /, ""); sub(/ +#.*/, ""); print }' README.md; }

cat >"$root/work/follow" <<'END'
cd /swcaffe
set -e -T -o pipefail
trap 'echo "\$ $BASH_COMMAND" >&2' DEBUG
. /work/commands
END

# inside COMMANDS runs commands in the root, each shown before it runs, with the settings of a fresh login.
inside() {
  printf '%s\n' "$1" >"$root/work/commands"
  unshare -m sh -c 'mount -t proc proc "$1/proc" && mount -t tmpfs tmpfs "$1/tmp" && mount --bind /dev "$1/dev" && exec chroot "$@"' - "$root" \
    env -i HOME=/root TERM=dumb PATH=/swcaffe/bin:/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin GOPROXY="$(go env GOPROXY)" GOSUMDB="$(go env GOSUMDB)" bash /work/follow
}

# door TITLE [SETUP] runs what a section says, behind commands that make what its user has.
door() {
  local began=$SECONDS script
  script=$(commands "$1")
  [ -n "$script" ] || { echo "$0: README.md has no commands below \"$1\"" >&2; exit 1; }
  # A server runs until it is stopped.
  script=$(sed 's/^swcaffe serve /timeout --preserve-status -s INT 10 &/' <<<"$script")
  printf '\n== door: %s\n' "$1"
  [ -z "${2:-}" ] || inside "$2" >"$root/work/setup.log" 2>&1 || { tail "$root/work/setup.log" >&2; exit 1; }
  began=$SECONDS
  inside "$script"
  echo "== $((SECONDS - began)) s; $(uptime | sed 's/.*load/load/')"
}

printf '== first command\n'
began=$SECONDS
inside './scripts/quickstart.sh'
echo "== $((SECONDS - began)) s; $(uptime | sed 's/.*load/load/')"

door 'I have a prototxt and a caffemodel' 'cp models/lenet/train_val.prototxt models/lenet/deploy.prototxt .
cp models/lenet/lenet_iter_2000.caffemodel net.caffemodel
bin/swcaffe dataset digits -out drawn -train 200 -test 10 -files -force
cp drawn/digits_labels.txt labels.txt
cp "$(find drawn/digits_files/*/9 -name "*.png" | head -n 1)" 9.png'
door 'I have images and want to train' 'bin/swcaffe dataset digits -out drawn -train 200 -test 10 -files -force
cp -r drawn/digits_files/train photos'
door 'I script in Python or Go'
