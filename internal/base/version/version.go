// Package version says what this program was built from and for.
//
// The Go command records version, commit, date and tags in the binary. A build outside a checkout, as of a source archive, lacks some of them, and the
// linker can add them:
//
//	P=github.com/swcaffe/swcaffe/internal/base/version
//	go build -ldflags "-X $P.number=v1.2.3 -X $P.commit=0123456789ab -X $P.date=2026-11-28T10:00:00Z" ./cmd/swcaffe
//
// What the Go command has recorded comes first.
package version

import (
	"cmp"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// These are set by the linker.
var number, commit, date string

// Build is what a program was built from and for. A string is empty where nothing is known.
type Build struct {
	Version string   // the module's version, as v1.2.3; "(devel)" if none is known
	Commit  string   // of Git: all digits, or the twelve of a module's pseudo-version
	Date    string   // of the commit, by RFC 3339
	Changed *bool    // whether files differed from the commit; nil if not known
	Tags    []string // the tags of the build
}

// Read returns the build of this program.
func Read() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return read(info, Build{Version: number, Commit: commit, Date: date})
}

// read returns the build that the Go command has recorded, with what the linker says where nothing is.
func read(info *debug.BuildInfo, linked Build) Build {
	b := Build{Version: info.Main.Version}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			changed := s.Value == "true"
			b.Changed = &changed
		case "-tags":
			b.Tags = strings.FieldsFunc(s.Value, func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = cmp.Or(linked.Version, "(devel)")
	}
	if b.Commit == "" {
		b.Commit, b.Date = pseudo(b.Version)
	}
	b.Commit, b.Date = cmp.Or(b.Commit, linked.Commit), cmp.Or(b.Date, linked.Date)
	return b
}

// pseudo returns the commit and the date that a pseudo-version names, as v0.0.0-20261128100000-0123456789ab of go install MODULE@latest.
func pseudo(version string) (commit, date string) {
	commit, err := module.PseudoVersionRev(version)
	if err != nil {
		return "", ""
	}
	when, err := module.PseudoVersionTime(version)
	if err != nil {
		return "", ""
	}
	return commit, when.Format(time.RFC3339)
}
