#!/usr/bin/env bash
# Compares the reading of JPEGs with Caffe's: convert_imageset, ImageData and encoded Data, in turns, for small and large pictures in colour and grey,
# baseline and progressive. Prints medians of processor time, wall time and peak memory, and their ratios. Nothing else should run meanwhile. It takes about six minutes.
#
#   scripts/bench/images.sh [-rounds N] [-quick] [-only WORD]
#
# -rounds N   how often each program runs (default 5)
# -quick      fewer pictures and three rounds, for about two minutes
# -only WORD  the cases whose name has this word: small, large, colour, grey, baseline, progressive, convert_imageset, ImageData, Data, memory
#
# It needs cjpeg (Debian package libjpeg-turbo-progs), ImageMagick's convert and scripts/bench/caffe.sh. Pictures are kept in build/bench/images.
set -euo pipefail
cd "$(dirname "$0")/../.."

dir=build/bench/images caffe=build/bench/caffe
mkdir -p "$dir"
for tool in cjpeg convert python3; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
[ -x "$caffe/caffe" ] || { echo "$caffe/caffe is missing: run scripts/bench/caffe.sh" >&2; exit 1; }
CGO_ENABLED=0 go build -trimpath -o "$dir/swcaffe" ./cmd/swcaffe

# Pictures with smooth areas, edges and noise. A file a seed; the large ones are one picture in all ways of coding.
picture() { # WIDTHxHEIGHT SEED FILE
  [ -s "$3" ] || convert -seed "$2" -size "$1" plasma:fractal -blur 0x1 -fill none -stroke black -strokewidth 3 -draw 'circle 200,150 260,190' \
    -attenuate 0.12 +noise Gaussian -depth 8 "$3"
}
code() { # PPM NAME
  local flags
  for flags in "colour baseline" "colour progressive -progressive" "grey baseline -grayscale" "grey progressive -grayscale -progressive"; do
    read -r colour way flags <<<"$flags"
    # shellcheck disable=SC2086 # several flags or none
    [ -s "$dir/$2-$colour-$way.jpg" ] || cjpeg -quality 90 $flags -outfile "$dir/$2-$colour-$way.jpg" "$1"
  done
}
for seed in 1 2 3 4; do
  picture 480x360 "$seed" "$dir/small$seed.ppm"
  code "$dir/small$seed.ppm" "small$seed"
done
picture 4000x3000 5 "$dir/large1.ppm"
code "$dir/large1.ppm" large1

exec python3 scripts/bench/images.py "$dir" "$caffe" "$@"
