#!/usr/bin/env bash
# Tests the kernels for AVX-512 on a computer without: under Linux on a processor that Bochs emulates (both of Debian 13, which are unpacked in build/bochs).
#
#   scripts/avx512.sh [-model MODEL] [-without FEATURES] [-run TESTS] [-skip TESTS] [-iterations N] [PART...]
#
# Parts, all by default; a package or pattern of packages is a part too, whose tests run with -short:
#   simd        the tests of vector kernels at the level of AVX-512, of TestFactors up to 15 pixels and two blocks
#   lenet       LeNet's training for some iterations of 8 images: the losses are those of this computer, to the six digits of the log
#
# MODEL is one of Bochs's: sapphire_rapids (by default) has AVX512_VNNI, corei7_skylake_x has not.
# FEATURES, joined with commas, are taken from it: avx512vnni, for instance. TESTS are expressions of go test -run and -skip. What the machine prints is in
# build/avx512/console. Debian on amd64, root or user namespaces are needed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export GOFLAGS=-trimpath CGO_ENABLED=0
model=sapphire_rapids without=amx,amx_int8,amx_bf16,avx512bf16 run= skip= iterations=10
while [[ "${1:-}" == -* ]]; do
  case $1 in
    -model) model=$2 without= ;;
    -without) without+=${without:+,}$2 ;;
    -run) run=$2 ;;
    -skip) skip=$2 ;;
    -iterations) iterations=$2 ;;
    *) sed -n '2,/^set/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2 ;;
  esac
  shift 2
done
parts=${*:-simd lenet}
for tool in go git apt-get dpkg-deb unshare; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: go and git, and Debian's apt, dpkg and util-linux, are needed" >&2; exit 1; }
done
out=$PWD/build/avx512 bochs=build/bochs
[ -x "$bochs/run" ] || RELEASE=trixie scripts/unstable.sh "$bochs" bochs-term bochs bochsbios vgabios linux-image-cloud-amd64 isolinux syslinux-common xorriso busybox-static ncurses-base
step() { printf '\n== [%4d s] %s\n' "$SECONDS" "$*"; }

# fresh empties the machine's disk: the tree below /swcaffe and the shell commands that the machine will run there.
fresh() {
  rm -rf "$out/root"
  mkdir -p "$out/root"/{bin,dev,proc,sys,tmp,swcaffe}
  echo "module emulated" >"$out/root/swcaffe/go.mod" # its folders are no packages of this module
  cp "$bochs/root/usr/bin/busybox" "$out/root/bin/"
  : >"$out/root/commands"
}

# machine starts a machine with that disk, shows what the commands print, and has their exit status.
machine() {
  local disk=$out/disk features=${without:+", exclude_features=\"$without\""}
  cat >"$out/root/init" <<'INIT'
#!/bin/busybox sh
export PATH=/bin HOME=/tmp
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
stty -onlcr
grep -o -m 1 'avx512[a-z_0-9]*' /proc/cpuinfo | xargs
cd /swcaffe
status=0 sh -e /commands
echo "exit status $?"
stty onlcr # waits for the serial line
reboot -f
INIT
  chmod +x "$out/root/init"
  mkdir -p "$disk"
  (cd "$out/root" && find . | bin/busybox cpio -o -H newc) >"$disk/root" 2>/dev/null
  cp "$bochs"/root/boot/vmlinuz-* "$disk/linux"
  cp "$bochs"/root/usr/lib/{ISOLINUX/isolinux.bin,syslinux/modules/bios/ldlinux.c32} "$disk/"
  # Bochs 3.0's VCVTNE2PS2BF16 is wrong (docs/avx512.md), so that bfloat16 is left out by default. The time stamp counter counts instructions, whatever CPUID says of it. Of what Linux uses, Bochs 3.0 has AMX's state, ENDBR64 and the return from system
  # management (ACPI) not as Linux needs them. A reboot, which a panic of Linux also causes, ends Bochs.
  cat >"$disk/isolinux.cfg" <<'CFG'
default linux
label linux
  kernel linux
  append initrd=root console=ttyS0 loglevel=1 tsc_early_khz=50000 edd=off acpi=off ibt=off nousershstk mitigations=off random.trust_cpu=on panic=-1 reboot=t
CFG
  "$bochs/run" xorriso -as mkisofs -quiet -o "$out/disk.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 -boot-info-table "$disk" 2>/dev/null
  cat >"$out/bochsrc" <<RC
cpu: model=$model, ips=50000000, ignore_bad_msrs=1, reset_on_triple_fault=0$features
memory: guest=2048, host=2048
romimage: file=/usr/share/bochs/BIOS-bochs-latest, options=fastboot
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path="$out/disk.iso", status=inserted
boot: cdrom
display_library: term
com1: enabled=1, mode=file, dev="$out/console"
log: "$out/log"
panic: action=fatal
RC
  : >"$out/console"
  TERM=vt100 "$bochs/run" bochs -f "$out/bochsrc" </dev/null >/dev/null 2>"$out/errors" &
  trap 'kill -KILL '$! EXIT
  tail -f --pid=$! "$out/console"
  trap - EXIT
  grep -q '^exit status' "$out/console" || tail -n 3 "$out/errors" >&2
  grep -qx 'exit status 0' "$out/console"
}

# tests PATTERN PACKAGE... compiles the tests of packages and runs those that match -run or the pattern, each package in its folder.
tests() {
  local package folder pattern=${run:-$1}
  shift
  fresh
  git ls-files -z '*testdata*' models | xargs -0 cp --parents -t "$out/root/swcaffe"
  for package in $(go list "$@"); do
    folder=${package#*/*/*/}
    go test -vet=off -c -ldflags='-s -w' -o "$out/root/tests/$folder" "$package"
    [ -e "$out/root/tests/$folder" ] || continue # it has no tests
    mkdir -p "$out/root/swcaffe/$folder"
    echo "(cd $folder && echo $folder && /tests/$folder -test.short -test.timeout 0 -test.run '$pattern' -test.skip '$skip') || status=1" >>"$out/root/commands"
  done
  echo 'exit $status' >>"$out/root/commands"
  machine
}

simd() {
  # TestFactors is long; Bochs 3.0's VRSQRT14PS of 2^-149, which TestMulPow has, is 2^75.
  local skip=${skip:-'TestMulPow|TestFactors//(_(1[6-9]|[2-4].)_pixels|of_(3|5|36)$)'}
  tests '/^avx512$' ./internal/base/simd/...
}

lenet() {
  local folder=$out/root/swcaffe
  fresh
  go build -ldflags='-s -w' -o "$out/root/program" ./cmd/swcaffe
  mkdir -p "$folder/models"
  cp -r models/lenet "$folder/models/"
  (
    cd "$folder"
    sed -i 's/batch_size: 64/batch_size: 8/' models/lenet/train_val.prototxt
    sed "s/^max_iter.*/max_iter: $iterations/; s/^display.*/display: 1/; s/^snapshot:.*/snapshot: 0/; s/^test_i.*//" models/lenet/solver.prototxt >solver.prototxt
    echo "test_initialization: false" >>solver.prototxt
    ../program dataset digits -out data -train 2000 -test 100 >/dev/null 2>&1
    cat >train <<'TRAIN'
$1 train -solver solver.prototxt >log 2>&1 || { cat log; exit 1; }
sed -n 's/.*\(Iteration [0-9]*\)[ ,].*\(loss = .*\)/\1, \2/p' log
rm -f models/lenet/lenet_iter_* # of the last iteration
TRAIN
    sh train ../program >here
    [ "$(wc -l <here)" -gt "$iterations" ]
  )
  echo 'sh train /program >there; cat there; cmp here there' >"$out/root/commands"
  machine
}

for part in $parts; do
  step "$part"
  case $part in
    simd | lenet) "$part" ;;
    *) tests . "$part" ;;
  esac
done
