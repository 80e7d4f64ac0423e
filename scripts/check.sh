#!/usr/bin/env bash
# Installs what the tests need, then runs every check that a change must pass. Works on a fresh Debian machine with Go, as root or
# with sudo. Installed packages stay as they are.
set -euo pipefail
steps=$(grep -c '^step "' "$0")
cd "$(dirname "$0")/.."
. scripts/alive.sh

# Without the paths of this checkout in them, packages that another checkout has compiled serve this one too.
export GOFLAGS="${GOFLAGS:-} -trimpath"

# Compilers and tests collect garbage less often than by default: it takes a tenth of their time. GOMEMLIMIT bounds the garbage of large nets.
export GOGC=400 GOMEMLIMIT=4GiB

now=0
step() { printf '\n== [step %d of %d, %d s] %s\n' $((now += 1)) "$steps" "$SECONDS" "$*"; }

# gotest runs go test with the packages as last arguments. On a terminal, it prefixes each package's line with the number of
# finished packages. go test's own vet is off: the step "go vet" makes these checks and more, once for all steps. Tests wait for processes
# and links for files, so one package more than processors runs at a time.
gotest() {
  set -- -vet=off -p $(($(nproc) + 1)) "$@"
  if [ ! -t 1 ]; then
    go test "$@"
    return
  fi
  local all
  all=$(printf '%s\n' "$@" | grep '^\./' | xargs go list | wc -l)
  alive go test "$@" | awk -v all="$all" '/^(ok|FAIL|\?)[ \t]+[^ \t]+\// { printf "%d of %d: ", ++n, all } { print; fflush() }'
}

# gcc: the race detector and the cgo build; lmdb-utils and hdf5-tools: cross-checks of our readers and writers; protobuf-compiler:
# decodes files written by us; libjpeg-turbo-progs: a second JPEG decoder; python3: recomputes the conformance cases; openmpi-bin,
# libopenmpi-dev, pkgconf: the mpi build and its tests under mpirun; python3-venv, binutils, git: go test ./cmd/libswcaffe builds the Python
# module's wheel, installs it, and runs the module's suite (python/tests) with python3-numpy and python3-protobuf; mypy checks a program
# with the module's types; chromium: opens the page of train -http; curl, python3-grpcio: clients of serve.
packages=(gcc libc6-dev binutils git lmdb-utils hdf5-tools protobuf-compiler libjpeg-turbo-progs python3 python3-venv openmpi-bin libopenmpi-dev pkgconf
  python3-numpy python3-protobuf mypy chromium curl python3-grpcio)

step "install test tools: ${packages[*]}"
there=$(dpkg-query -W -f='${Package}: ${Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for p in "${packages[@]}"; do
  grep -qxF "$p: install ok installed" <<<"$there" || missing+=("$p")
done
if ((${#missing[@]})); then
  as_root=(env DEBIAN_FRONTEND=noninteractive) # after sudo, which clears the environment
  [ "$(id -u)" = 0 ] || as_root=(sudo "${as_root[@]}")
  echo "installing: ${missing[*]}"
  alive "${as_root[@]}" apt-get update -qq
  alive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "all present"
fi

# The oracles of exported models: ONNX Runtime, OpenCV and ONNX's checker, in build/, where they stay for the next check.
./scripts/onnx_oracles.sh -install

before=$(git status --porcelain)

step "gofmt"
unformatted=$(git ls-files '*.go' | alive xargs gofmt -l)
[ -z "$unformatted" ] || { echo "not formatted:"; echo "$unformatted"; exit 1; }

step "no marks of unresolved merges"
if git grep -nE '^(<{7}|>{7}) '; then exit 1; fi

step "go mod tidy -diff"
alive go mod tidy -diff

# go list -export compiles all packages and links no commands. Linking is not cached and takes seconds for each command, so only the
# static binary is linked here, for the tests that run the command; the tests link the others.
step "go build (CGO_ENABLED=0)"
mkdir -p build
CGO_ENABLED=0 alive go list -export ./... >/dev/null
CGO_ENABLED=0 alive go build -o build/swcaffe ./cmd/swcaffe
export SWCAFFE_TEST_BINARY=$PWD/build/swcaffe # tests that run the command need not link it again

step "go build and go vet for 32 bits, without vector kernels (GOARCH=386)"
GOARCH=386 CGO_ENABLED=0 alive go list -export ./... >/dev/null
GOARCH=386 CGO_ENABLED=0 alive go vet ./...

# From here on, a file left in the temporary folder is an error. Tests make thousands of small files there and wait until the disk has them
# (fsync). A RAM disk has them at once: the folder is in one that has room and lets programs run, which those of containers often do not.
ram_disk() {
  [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1)" -ge $((4 << 20)) ] && awk '$1 == "MemAvailable:" { exit $2 < 8 * 2^20 }' /proc/meminfo || return 1
  temporary=$(mktemp -d -p /dev/shm) && cp "$(type -P true)" "$temporary/true" && "$temporary/true" && rm "$temporary/true" && return
  rm -rf "$temporary"
  return 1
} 2>/dev/null
ram_disk || temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
export TMPDIR=$temporary

# The steps below leave the processors idle for some of the time. Random problems take that time: at the lowest priority, until they have
# had 90 s of every processor. Fixed seeds give the same problems every time, as many as time permits. scripts/fuzz.sh draws fresh ones.
CGO_ENABLED=0 alive go build -o build/randomtest ./internal/testkit/randomtest/run
idle=(chrt --idle 0)
"${idle[@]}" true 2>/dev/null || idle=(nice -n 19) # some containers have no scheduling classes
"${idle[@]}" env GOMEMLIMIT=1GiB build/randomtest -seed 1 -cpu_seconds $((90 * $(nproc))) -timeout 20m -jobs $(($(nproc) + 1)) \
  -dir build/problems >build/random.log 2>&1 &
random=$!
trap 'kill "$random" 2>/dev/null || true; rm -rf "$temporary"' EXIT

step "go build (cgo, -tags mpi)"
CGO_ENABLED=1 alive go list -export ./... >/dev/null
CGO_ENABLED=1 alive go list -export -tags mpi ./... >/dev/null

# internal/testkit/imports checks the types of all packages for other systems.
step "go vet"
alive go vet ./...
(cd tools/asm && alive go vet ./...)
(cd tools/site && alive go vet ./...)

# Only what the program is made of: with the tests it takes twice as long. Names such as Huffman may begin an error (ST1005). Later runs read most
# from staticcheck's cache.
step "staticcheck, govulncheck"
mkdir -p build/tools
has_tool() { go version -m "build/tools/$1" 2>/dev/null | grep -qF "$2"; }
has_tool staticcheck $'honnef.co/go/tools\tv0.8.2' || GOBIN=$PWD/build/tools GOFLAGS= alive go install -trimpath honnef.co/go/tools/cmd/staticcheck@v0.8.2
has_tool govulncheck $'golang.org/x/vuln\tv1.9.0' || GOBIN=$PWD/build/tools GOFLAGS= alive go install -trimpath golang.org/x/vuln/cmd/govulncheck@v1.9.0
alive build/tools/staticcheck -tests=false -checks inherit,-ST1005 ./...
if ! build/tools/govulncheck ./cmd/swcaffe >build/govulncheck.log 2>&1; then
  grep -q 'fetching vulnerabilities' build/govulncheck.log || { cat build/govulncheck.log; exit 1; }
  echo "govulncheck is left out, its database cannot be reached: $(tail -n 1 build/govulncheck.log)"
fi

step "docs/architecture.svg is what the imports give"
scripts/architecture.py -check

step "the assembly and its dispatch are what tools/asm writes"
(cd tools/asm && alive go test ./...)

step "the site of the documents, and all its links"
(cd tools/site && alive go test ./...)
alive ./scripts/site.sh

# On a busy machine a package may need more than go test's default of ten minutes. go test begins with the packages that are named first: those
# whose tests take longest, so that none of them is left to the end alone.
step "go test"
gotest -timeout 30m ./cmd/swcaffe ./cmd/libswcaffe ./models ./layers/all ./...

# level runs go test at another vector level. The linker puts it into the test programs, so that go test caches their results separately.
level() { gotest -ldflags "-X github.com/swcaffe/swcaffe/internal/base/simd/isa.requested=$1" "${@:2}"; }

# The step above runs kernels and layers at the machine's highest vector level; packages of internal/base/simd test every level
# themselves. This step runs plain Go. The race detector's step runs AVX2, since the detector does not slow assembly down.
step "go test, kernels and layers in plain Go"
level go -timeout 30m -short ./layers/... ./cpe/kernel/...

# TestMPI of cmd/swcaffe, in the step "go test", builds the command with this tag and runs it as MPI jobs.
step "go test -tags mpi"
CGO_ENABLED=1 gotest -tags mpi -short ./topology/... ./internal/testkit/mpitest/...

# Ways whose launchers and libraries are not here are left out, and said; scripts/mpi_same.sh alone fetches the libraries too.
step "the same bytes by MPI and in one process"
./scripts/mpi_same.sh -iterations 10 -here

below=
if grep -qsw avx2 /proc/cpuinfo; then below=avx2; fi
step "go test -race (packages with goroutines), at ${below:-the highest level}"
level "$below" -timeout 30m -race -short ./cpe/kernel/conv/plan ./solver ./solver/centre ./cpe ./cpe/kernel/... ./data ./data/lmdb ./modeltime ./topology/... \
  ./cmd/internal/python ./internal/app/page ./internal/app/board ./internal/app/metrics ./internal/testkit/randomtest ./internal/app/timeline
gotest -race -short -run '^(TestEveryType|TestFirstRunningSums|TestWorkers)$' ./layers/all

step "clients of serve: the page's commands, and the protocol over HTTP and gRPC"
alive ./scripts/serve_clients.sh
alive ./scripts/serve_faults.sh

step "ONNX models in ONNX Runtime, OpenCV and ONNX's checker"
./scripts/onnx_oracles.sh -quick

# Processes that are killed or stopped leave the cores idle most of the time.
step "faults at random moments"
alive ./scripts/faults.sh >build/faults.log 2>&1 || { cat build/faults.log; exit 1; }
cat build/faults.log

step "random nets and kernel problems, which began after the first build"
alive wait "$random" || { cat build/random.log; exit 1; }
tail -n 1 build/random.log

step "no temporary files"
left=$(ls -A "$temporary")
[ -z "$left" ] || { echo "left in TMPDIR:"; echo "$left"; exit 1; }

step "clean tree"
after=$(git status --porcelain)
[ "$before" = "$after" ] || { echo "the tests changed the tree:"; echo "$after"; exit 1; }

echo
echo "all checks passed"
