#!/usr/bin/env bash
# Compares two builds of swcaffe byte by byte, for changes that must not change results.
#
#   scripts/same_results.sh [-jobs N] [-keep DIR] OLD NEW [MODEL...]
#
# OLD and NEW are binaries. MODEL names some of models/*; without it, all are compared. -jobs N runs N cases at a time (2).
# The cases are:
#   train LEVEL    caffemodel and solverstate after two iterations of each solver, with SWCAFFE_SIMD=go, avx2 and avx512, if this
#                  computer supports them
#   train mpe      the same with -engine mpe
#   train sw26010  the same on the modelled SW26010 with computed values; batches of 4, without the nets for ImageNet
#   time cost      "swcaffe time -machine sw26010" of each net in phase TRAIN (deploy.prototxt: TEST), as text and with -json, both cost models
#   time values    the same with -mode functional, for batches of at most 4; host times, in the log, are not compared
# For each case, it prints a line at its end: "equal"; "differs" with the file and its first differing byte; or "fails" with the
# last line of the log. It exits with 1 unless all cases are equal. A case that fails alike in both builds is not equal.
#
# Data are small generated sets. Nets for ImageNet are made smaller. They train on random images (-stage synthetic) in batches of
# 2 (1 on the MPE path), since an iteration in plain Go would take minutes. Their layers of 4096 units get 256, since snapshots
# would take gigabytes. VGG's images get 64 x 64 pixels (32 x 32). Instead of iter_size, gradients are those of one batch. Other
# nets keep their batch sizes, on the MPE path at most 16. All cases take about 15 minutes on two cores. -keep DIR keeps inputs
# and outputs in DIR.
set -euo pipefail
usage="usage: $0 [-jobs N] [-keep DIR] OLD NEW [MODEL...]"
jobs=2 keep=
while (($# > 0)); do
  case $1 in
    -jobs) jobs=${2:?"$usage"} && shift 2 ;;
    -keep) keep=${2:?"$usage"} && shift 2 ;;
    -*) echo "$usage" >&2 && exit 2 ;;
    *) break ;;
  esac
done
(($# >= 2)) && [[ $jobs =~ ^[1-9][0-9]*$ ]] || { echo "$usage" >&2; exit 2; }
old=$(realpath -e "$1") new=$(realpath -e "$2")
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# > 0)) || set -- $(cd models && printf '%s\n' */ | tr -d /)
for model; do
  [ -e "models/$model/train_val.prototxt" ] || { echo "$0: there is no models/$model" >&2; exit 2; }
done

if [ -n "$keep" ]; then
  mkdir -p "$keep" && work=$(realpath "$keep")
else
  work=$(mktemp -d)
fi
# The end of the script, for whatever reason, ends the running cases.
cases_group=
end() {
  [ -z "$cases_group" ] || kill -- "-$cases_group" 2>/dev/null && wait || true
  [ -n "$keep" ] || rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM HUP
export old new work
: >"$work/results"

# Each build writes into a folder of its own, with the same models and data under the same names.
cp -rL models "$work/models"
(
  cd "$work"
  for set in digits shapes pairs scenes points; do
    "$old" dataset $set -train 300 -test 100 -force
  done
  "$old" dataset text -train 20001 -test 4001 -force
  "$new" dataset objects -train 300 -test 100 -size 96 -force # older builds have no objects
) >"$work/dataset.log" 2>&1 || { tail -n 3 "$work/dataset.log" >&2; exit 2; }
for build in old new; do
  mkdir -p "$work/$build"
  ln -sfn ../models "$work/$build/models" && ln -sfn ../data "$work/$build/data"
done

# for_imagenet PATH reports whether the model of a file needs photographs.
for_imagenet() { grep -q '"synthetic"' "$(dirname "$1")/train_val.prototxt"; }

# small NET BATCH PIXELS TO writes a net with smaller batches. Nets for ImageNet also get fewer units, and VGG smaller images.
small() {
  local edit=(-e "s/batch_size: [0-9]*/batch_size: $2/")
  if for_imagenet "$1"; then
    edit+=(-e "s/shape { dim: [0-9]*/shape { dim: $2/" -e 's/num_output: 4096/num_output: 256/')
    [[ $1 != models/vgg* ]] || edit+=(-e "s/dim: 224 dim: 224/dim: $3 dim: $3/")
  fi
  sed "${edit[@]}" "$1" >"$4"
}

# at_most BATCH NET prints the batch size, or the smallest of the net's data layers if that is less.
at_most() {
  sed -nE 's/.*batch_size: ([0-9]+).*/\1/p' "$2" | { cat && echo "$1"; } | sort -n | head -n 1
}

# solver SOLVER NET PREFIX prints a solver with two iterations and without tests.
solver() {
  sed -E '/^(net|test_[a-z_]*|iter_size|max_iter|snapshot|snapshot_prefix|random_seed|display):?[ {]/d' "$1"
  printf 'net: "%s"\nmax_iter: 2\nsnapshot: 0\nsnapshot_prefix: "%s"\nrandom_seed: 1\n' "$2" "$3"
}

# both NAME ARGS... runs both builds, each in its folder, where a case writes to out/NAME. It prints the reason of a failure.
both() {
  local name=$1 build
  shift
  for build in old new; do
    mkdir -p "$work/$build/out/$name"
    (cd "$work/$build" && "${!build}" "$@" >"out/$name/stdout" 2>"$work/$build/$name.log") ||
      echo "$build: $(tail -n 1 "$work/$build/$name.log") "
  done
}

# run KIND PATH VARIANT runs a case and prints its line.
run() {
  local name="$1_$3_$(tr / _ <<<"${2%.prototxt}")" net flags=() result failed file
  if [ "$1" = train ]; then
    net=$(sed -nE 's/^net: *"(.*)"/\1/p' "$2")
    local batch=0 pixels=64 from=$net
    case $3 in
      mpe) batch=16 flags=(-engine mpe) ;;
      sw26010) batch=4 flags=(-machine sw26010) ;;
    esac
    if for_imagenet "$net"; then
      batch=2 flags+=(-stage synthetic)
      [ "$3" != mpe ] || batch=1 pixels=32
    elif ((batch > 0)); then
      batch=$(at_most $batch "$net")
    fi
    if ((batch > 0)); then
      net=models/$name.net.prototxt && small "$from" "$batch" "$pixels" "$net"
    fi
    solver "$2" "$net" "out/$name/snapshot" >"models/$name.solver.prototxt"
    [[ $3 == mpe || $3 == sw26010 ]] || export SWCAFFE_SIMD=$3
    failed=$(both "$name" train -solver "models/$name.solver.prototxt" -threads 2 "${flags[@]}")
    unset SWCAFFE_SIMD
  else
    flags=(-model "$2" -machine sw26010 -seed 1)
    [[ $2 == */deploy.prototxt || $2 == */nonlinear_deploy.prototxt ]] && flags+=(-phase TEST) || flags+=(-phase TRAIN)
    if for_imagenet "$2"; then
      flags+=(-stage synthetic)
    fi
    if [ "$3" = values ]; then
      local batch
      batch=$(at_most 4 "$2")
      net=models/$name.net.prototxt && small "$2" "$batch" 64 "$net"
      flags+=(-model "$net" -mode functional -batch "$batch")
    fi
    failed=$(both "$name" time "${flags[@]}" -json "out/$name/report.json")
  fi
  result=equal
  if [ -n "$failed" ]; then
    result="fails: ${failed//$'\n'/}"
  elif ! file=$(diff -rq "$work/old/out/$name" "$work/new/out/$name"); then
    result="differs: $(head -n 1 <<<"$file" | sed "s,$work/,,g")"
    file=$(cd "$work/old/out/$name" && find . -type f | sort | while read -r f; do cmp -s "$f" "$work/new/out/$name/$f" || { echo "$f"; break; }; done)
    [ ! -e "$work/new/out/$name/$file" ] || result="differs: ${file#./}$(cmp "$work/old/out/$name/$file" "$work/new/out/$name/$file" | sed 's/.* differ//')"
  elif [ "$1" = train ] && ! ls "$work/old/out/$name"/*.solverstate >/dev/null 2>&1; then
    result="fails: no snapshot was written"
  fi
  [[ -n $keep ]] || rm -rf "$work"/{old,new}/out/"$name"
  echo "$result" >>"$work/results"
  printf '[%d of %d, %d s] %s %s, %s: %s\n' "$(wc -l <"$work/results")" "$cases" $(($(date +%s) - began)) "$1" "$3" "$2" "$result"
}
export -f for_imagenet small at_most solver both run
export keep

levels=()
for level in go avx2 avx512; do
  if [ "$(SWCAFFE_SIMD=$level "$old" device_query 2>/dev/null | sed -n 's/^SIMD: *//p')" = $level ]; then
    levels+=("$level")
  else
    echo "not compared: this computer has no $level"
  fi
done

# The longest cases come first, so that no core is idle at the end.
list() {
  local model path variant
  for model; do
    for path in models/$model/*solver*.prototxt; do
      for variant in mpe "${levels[@]}" sw26010; do
        if [ $variant = sw26010 ] && for_imagenet "$path"; then continue; fi
        printf '%s %s %s\n' train "$path" "$variant"
      done
    done
    for path in models/$model/*train_val.prototxt models/$model/*deploy.prototxt; do
      printf '%s %s %s\n' time "$path" cost time "$path" values
    done
  done
}
list "$@" >"$work/cases"
cases=$(wc -l <"$work/cases") began=$(date +%s)
export cases began
cd "$work"
sort -k3,3r -k1,1r cases >ordered
set -m # a process group of its own
xargs -P "$jobs" -L 1 bash -c 'run "$@"' run <ordered &
cases_group=$!
wait "$cases_group" || true
cases_group=
equal=$(grep -c '^equal$' results || true)
echo "$equal of $cases cases are equal"
[ "$equal" = "$cases" ]
