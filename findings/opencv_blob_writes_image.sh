#!/usr/bin/env bash
# OpenCV 4.6's cv2.dnn.blobFromImage subtracts the mean from the caller's own image, and multiplies it by the scale factor, if the image is float32 and has
# the blob's size already. A second call with the same image and arguments gives another blob. Images of bytes, and of other sizes, stay as they are.
#
# Guess: blobFromImage makes a blob and leaves the image, whatever its type.
# Seen:  of four cases, types by sizes, one changes the image, without a word.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p cache/archives/partial state/lists root
: >status
apt="-o Dir::State::status=$dir/status -o Dir::Cache=$dir/cache -o Debug::NoLocking=1 -o APT::Sandbox::User=root --no-install-recommends -qq -y"
# shellcheck disable=SC2086 # the options are words
apt-get $apt install --download-only python3-opencv=4.6.0+dfsg-12 >/dev/null
for package in cache/archives/*.deb; do dpkg-deb -x "$package" root; done
libraries=$(find "$dir/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:)
cat >finding.py <<'END'
import cv2, numpy as np

print("OpenCV", cv2.__version__)
for kind in (np.uint8, np.float32):
    for size in ((4, 4), (3, 3)):
        image = np.full((4, 4, 3), 100, kind)
        blobs = [cv2.dnn.blobFromImage(image, 0.5, size, (10, 20, 30))[0, :, 0, 0].tolist() for _ in range(2)]
        print(f"{kind.__name__}, 4 x 4 to {size[0]} x {size[1]}: blobs {blobs[0]} and {blobs[1]}; the image is now {image[0, 0].tolist()}")
        written = not (image == 100).all()
        assert written == (kind is np.float32 and size == (4, 4)) == (blobs[0] != blobs[1]), "behaves otherwise"
END
PYTHONPATH="$dir/root/usr/lib/python3/dist-packages" PYTHONHOME="$dir/root/usr" \
  "$(find root -name 'ld-linux-*' -type f -o -name 'ld-linux-*' -type l | head -1)" --library-path "$libraries" root/usr/bin/python3.11 finding.py
