#!/usr/bin/env bash
# Makes a release of HEAD: programs for Linux, macOS and Windows on amd64 and arm64, packages for Debian and for RPM, Python's wheels, their sums, lists
# of contents (CycloneDX, SPDX) and the licences of all modules. It makes everything twice, in different folders, and fails if a byte differs.
#
#   scripts/release.sh [-version vX.Y.Z] [-targets "OS/ARCH ..."] [-wheels "ARCH ..."] [DIR]
#
#   -version vX.Y.Z  the version; by default the tag of HEAD
#   -targets LIST    all six by default
#   -wheels LIST     "x86_64 aarch64 windows" by default, which are all that compilers of Debian can build
#
# DIR (dist/release) is made anew:
#
#   swcaffe_VERSION_OS_ARCH.tar.xz (Windows: .zip)     programs, README, licences, shells' completions, manual pages
#   swcaffe_VERSION_ARCH.deb, swcaffe-VERSION.ARCH.rpm the same as packages, for Linux
#   swcaffe_VERSION_oci.tar                            an image for containers (OCI), for both processors of Linux
#   swcaffe-VERSION-py3-none-PLATFORM.whl              the Python module, with licences and lists of contents inside
#   swcaffe_VERSION_OS_ARCH.cdx.json, .spdx.json       the modules that the program contains, with version, sum and licence
#   install.sh                                         installs the archive that fits a computer, after a look at its sum
#   SHA256SUMS
#
# Linux has swcaffe-mpi beside swcaffe, which runs it under MPI. A program for Linux or macOS that is larger than 12 MB compressed by xz is an error.
# It needs Go, git, zip, GNU tar, gzip and xz, for the wheels gcc, python3, gcc-aarch64-linux-gnu and gcc-mingw-w64-x86-64, and fetches nfpm through Go's
# modules. scripts/release_check.sh installs and runs the results.
#
# There is no wheel for macOS, whose headers and stubs of libraries no package of Debian has, and none for Windows on arm64, for which Debian's mingw-w64 has
# no compiler. There, scripts/wheel.sh's command "go build -buildmode=c-shared" makes the library with that system's compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/alive.sh

nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
limit=$((12 << 20)) # bytes of a compressed program, at most

version=$(git describe --exact-match --tags --match 'v[0-9]*' 2>/dev/null || true)
targets='linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64'
wheels='x86_64 aarch64 windows'
while (($# > 0)); do
  case $1 in
    -version) version=$2 && shift 2 ;;
    -targets) targets=$2 && shift 2 ;;
    -wheels) wheels=$2 && shift 2 ;;
    -*) echo "$0: unknown flag $1; there are -version, -targets and -wheels" >&2 && exit 1 ;;
    *) break ;;
  esac
done
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || { echo "$0: HEAD has no tag like v1.2.3; give -version" >&2; exit 1; }
out=$(realpath -m "${1:-dist/release}")
commit=$(git rev-parse HEAD)
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
x=github.com/swcaffe/swcaffe/internal/base/version
stamp="-X $x.number=$version -X $x.commit=$commit -X $x.date=$date" # for Go's linker
# Nothing of this user's or this computer's settings gets into the programs.
export LC_ALL=C TZ=UTC CGO_ENABLED=0 GOFLAGS=-buildvcs=false GOTOOLCHAIN=local GOAMD64=v1 GOARM64=v8.0 GOWORK=off
umask 022

step() { printf '\n== [%3d s] %s\n' "$SECONDS" "$*" >&2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tools"
step "build nfpm, which writes packages"
GOBIN=$scratch/tools alive go install -trimpath "$nfpm"

# make DIR makes all files in a folder from the commit's own files.
make() {
  local dir=$1 target wheel
  mkdir -p "$dir/source" "$dir/files" "$dir/host"
  git archive "$commit" | tar -x -C "$dir/source"
  (cd "$dir/source" && go build -trimpath -o "$dir/host/" ./cmd/swcaffe ./internal/app/bill)
  for target in $targets; do
    step "$target, in $dir"
    one "$dir" "${target%/*}" "${target#*/}"
  done
  image "$dir"
  for wheel in $wheels; do
    step "wheel $wheel, in $dir"
    VERSION=${version#v} STAMP=$stamp bash "$dir/source/scripts/wheel.sh" "$wheel" "$dir/files" - >&2
  done
  cp "$dir/source/scripts/install.sh" "$dir/files/"
  (cd "$dir/files" && sha256sum -- * >SHA256SUMS)
}

# one DIR OS ARCH makes the files of a target.
one() {
  local dir=$1 os=$2 arch=$3 name=swcaffe_${version#v}_$2_$3 program=swcaffe
  local tree=$dir/$name
  [ "$os" != windows ] || program=swcaffe.exe
  mkdir -p "$tree/completions" "$tree/man/man1"
  (cd "$dir/source" && GOOS=$os GOARCH=$arch alive go build -trimpath -ldflags "-s -w -buildid= $stamp" -o "$tree/$program" ./cmd/swcaffe)
  if [ "$os" = linux ]; then
    (cd "$dir/source" && GOOS=$os GOARCH=$arch alive go build -trimpath -ldflags "-s -w -buildid= $stamp" -o "$tree/swcaffe-mpi" ./cmd/swcaffe-mpi)
  fi
  cp "$dir/source/README.md" "$dir/source/LICENSE" "$dir/source/CHANGELOG.md" "$tree/"
  "$dir/host/bill" -program "$tree/$program" -date "$date" -licences "$tree/LICENSES.txt" -cyclonedx "$dir/files/$name.cdx.json" -spdx "$dir/files/$name.spdx.json"
  "$dir/host/swcaffe" completion bash >"$tree/completions/swcaffe.bash"
  "$dir/host/swcaffe" completion zsh >"$tree/completions/_swcaffe"
  "$dir/host/swcaffe" completion fish >"$tree/completions/swcaffe.fish"
  "$dir/host/swcaffe" man "$tree/man/man1" 2>/dev/null
  sed -i "1,3s/swcaffe (devel)/swcaffe $version/" "$tree"/man/man1/*
  find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  if [ "$os" = windows ]; then
    (cd "$dir" && find "$name" -type f | sort | zip -q -X -9 -@ "$dir/files/$name.zip")
  else
    tar -C "$dir" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar -cf - "$name" | xz -6 -T1 >"$dir/files/$name.tar.xz"
  fi
  local size
  size=$(xz -6 -T1 -c "$tree/$program" | wc -c)
  echo "$program for $os/$arch: $(stat -c %s "$tree/$program") bytes, $size compressed" >&2
  ((size <= limit)) || { echo "that is more than $limit" >&2; exit 1; }
  [ "$os" = linux ] || return 0
  packages "$dir" "$tree" "$arch"
}

# packages DIR TREE ARCH makes the Debian and the RPM package of a program for Linux.
packages() {
  local dir=$1 tree=$2 arch=$3 kind
  gzip -n -9 "$tree"/man/man1/*
  cat >"$dir/nfpm.yaml" <<END
name: swcaffe
arch: $arch
version: $version
maintainer: swcaffe's maintainers <maintainers@swcaffe.example>
description: |-
  Caffe networks on CPUs
  Trains, tests and runs Caffe's networks from Caffe's own files, as one program.
license: BSD-2-Clause
section: science
mtime: $date
deb: {compression: xz}
rpm: {buildhost: localhost, compression: xz}
contents:
  - {src: $tree/swcaffe, dst: /usr/bin/swcaffe, file_info: {mode: 0755}}
  - {src: $tree/swcaffe-mpi, dst: /usr/bin/swcaffe-mpi, file_info: {mode: 0755}}
  - {src: $tree/completions/swcaffe.bash, dst: /usr/share/bash-completion/completions/swcaffe}
  - {src: $tree/completions/_swcaffe, dst: /usr/share/zsh/vendor-completions/_swcaffe, packager: deb}
  - {src: $tree/completions/_swcaffe, dst: /usr/share/zsh/site-functions/_swcaffe, packager: rpm}
  - {src: $tree/completions/swcaffe.fish, dst: /usr/share/fish/vendor_completions.d/swcaffe.fish}
  - {src: $tree/LICENSE, dst: /usr/share/doc/swcaffe/copyright}
  - {src: $tree/LICENSES.txt, dst: /usr/share/doc/swcaffe/LICENSES.txt}
  - {src: $tree/README.md, dst: /usr/share/doc/swcaffe/README.md}
  - {src: $tree/CHANGELOG.md, dst: /usr/share/doc/swcaffe/CHANGELOG.md}
$(for page in "$tree"/man/man1/*; do echo "  - {src: $page, dst: /usr/share/man/man1/$(basename "$page")}"; done)
END
  for kind in deb rpm; do
    "$scratch/tools/nfpm" package -f "$dir/nfpm.yaml" -p "$kind" -t "$dir/files/" >/dev/null
  done
}

# blob FOLDER FILE moves a file to where an image has its contents, and prints its sum and size.
blob() {
  local sum size
  sum=$(sha256sum <"$2" | cut -d ' ' -f 1) size=$(stat -c %s "$2")
  mkdir -p "$1/blobs/sha256"
  mv "$2" "$1/blobs/sha256/$sum"
  echo "$sum $size"
}

# image DIR makes an archive of an OCI image layout with an image for each processor of Linux: the program, which needs nothing beside it, and its licences. See
# github.com/opencontainers/image-spec.
image() {
  local dir=$1 target arch name layout=$1/oci diff layer layer_size config config_size sum size manifests='' types=application/vnd.oci.image
  rm -rf "$layout"
  mkdir -p "$layout"
  for target in $targets; do
    [ "${target%/*}" = linux ] || continue
    arch=${target#*/} name=swcaffe_${version#v}_linux_${target#*/}
    rm -rf "$dir/root"
    mkdir -p "$dir/root/usr/bin" "$dir/root/usr/share/doc/swcaffe" "$dir/root/data"
    cp "$dir/$name/swcaffe" "$dir/root/usr/bin/"
    cp "$dir/$name/LICENSE" "$dir/$name/LICENSES.txt" "$dir/root/usr/share/doc/swcaffe/"
    mkdir -m 1777 "$dir/root/tmp"
    tar -C "$dir/root" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar -cf "$dir/layer" data tmp usr
    diff=$(sha256sum <"$dir/layer" | cut -d ' ' -f 1)
    gzip -n -9 -S .gz "$dir/layer"
    read -r layer layer_size < <(blob "$layout" "$dir/layer.gz")
    cat >"$dir/config" <<END
{"created": "$date", "architecture": "$arch", "os": "linux",
 "config": {"Entrypoint": ["/usr/bin/swcaffe"], "Cmd": ["help"], "WorkingDir": "/data", "Env": ["PATH=/usr/bin"],
  "Labels": {"org.opencontainers.image.version": "$version", "org.opencontainers.image.revision": "$commit", "org.opencontainers.image.licenses": "BSD-2-Clause"}},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$diff"]},
 "history": [{"created": "$date", "created_by": "scripts/release.sh"}]}
END
    read -r config config_size < <(blob "$layout" "$dir/config")
    cat >"$dir/manifest" <<END
{"schemaVersion": 2, "mediaType": "$types.manifest.v1+json",
 "config": {"mediaType": "$types.config.v1+json", "digest": "sha256:$config", "size": $config_size},
 "layers": [{"mediaType": "$types.layer.v1.tar+gzip", "digest": "sha256:$layer", "size": $layer_size}]}
END
    read -r sum size < <(blob "$layout" "$dir/manifest")
    manifests+="${manifests:+, }{\"mediaType\": \"$types.manifest.v1+json\", \"digest\": \"sha256:$sum\", \"size\": $size, \"platform\": {\"architecture\": \"$arch\", \"os\": \"linux\"}}"
  done
  [ -n "$manifests" ] || return 0
  # Programs that load an image look for the name in an index that lists one thing: the index of both processors.
  echo "{\"schemaVersion\": 2, \"mediaType\": \"$types.index.v1+json\", \"manifests\": [$manifests]}" >"$dir/both"
  read -r sum size < <(blob "$layout" "$dir/both")
  echo '{"imageLayoutVersion": "1.0.0"}' >"$layout/oci-layout"
  echo "{\"schemaVersion\": 2, \"mediaType\": \"$types.index.v1+json\", \"manifests\": [{\"mediaType\": \"$types.index.v1+json\", \"digest\": \"sha256:$sum\", \"size\": $size, \"annotations\": {\"org.opencontainers.image.ref.name\": \"swcaffe:${version#v}\"}}]}" >"$layout/index.json"
  tar -C "$layout" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=ustar -cf "$dir/files/swcaffe_${version#v}_oci.tar" blobs index.json oci-layout
}

make "$scratch/first"
step "once more, in another folder"
make "$scratch/second/further/down"
step "compare both"
diff -r "$scratch/first/files" "$scratch/second/further/down/files"
rm -rf "$out"
mkdir -p "$(dirname "$out")"
cp -r "$scratch/first/files" "$out"
echo "both have the same bytes:" >&2
(cd "$out" && stat -c '%10s  %n' -- * && cat SHA256SUMS)
