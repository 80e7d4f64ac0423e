#!/usr/bin/env bash
# OpenCV 4.6's imdecode takes bytes of a signed type, as C++ programs hold them in a vector<char> and as Caffe's Data layer hands them over: JPEG, PNG, BMP
# and TIFF are read. WebP alone is not: the same bytes give no picture and a line in the log, if they are signed. imread reads the file.
#
# Guess: the type of the bytes either matters for all formats or for none.
# Seen:  four formats are read from signed and from unsigned bytes alike; WebP from unsigned bytes alone.
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
picture = (np.arange(16 * 16 * 3) % 251).astype(np.uint8).reshape(16, 16, 3)
seen = {}
for form in ("jpg", "png", "bmp", "tiff", "webp"):
    file = cv2.imencode("." + form, picture)[1].reshape(-1)
    for kind in (np.uint8, np.int8):
        read = cv2.imdecode(file.view(kind), cv2.IMREAD_COLOR)
        seen[form, kind.__name__] = read is not None
        print(f"{form} from {kind.__name__}: {'no picture' if read is None else 'read'}")
assert all(ok == ((form, kind) != ("webp", "int8")) for (form, kind), ok in seen.items()), "behaves otherwise"
END
PYTHONPATH="$dir/root/usr/lib/python3/dist-packages" PYTHONHOME="$dir/root/usr" \
  "$(find root -name 'ld-linux-*' -type f -o -name 'ld-linux-*' -type l | head -1)" --library-path "$libraries" root/usr/bin/python3.11 finding.py
