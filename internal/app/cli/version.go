package cli

import (
	"flag"
	"fmt"
	"runtime"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/version"
)

// Version is the command version.
var Version = Command{
	Name:     "version",
	Prints:   true,
	Synopsis: "print the version and what it was built for",
	Args:     "[-json FILE]",
	Example:  "swcaffe version",
	Help: `Prints the module's version, the commit that was built and its date, the Go release and platform, the SIMD level in use and those that this
computer supports, the tags of the build and the number of cores, a line each. Lines whose values the build did not record are left out.
-version and --version in place of a command print the same.`,
	Do: With(func(fs *flag.FlagSet, o *versionOptions) {
		OutputVar(fs, &o.json, "json", "write them to `FILE` as well (docs/json.md); -: to standard output, alone")
	}, func(e *Env, o *versionOptions) error {
		r := newVersionReport()
		r.print(e)
		return e.WriteJSON(o.json, r)
	}),
}

type versionOptions struct{ json string }

// versionReport is the file of -json.
type versionReport struct {
	Version    string   `json:"version"`
	Commit     string   `json:"commit,omitempty"`
	Date       string   `json:"date,omitempty"`
	Changed    *bool    `json:"changed,omitempty"`
	Go         string   `json:"go"`
	Platform   string   `json:"platform"`
	SIMD       string   `json:"simd"`
	SIMDLevels []string `json:"simd_levels"`
	Tags       []string `json:"tags,omitempty"`
	Cores      int      `json:"cores"`
}

func newVersionReport() versionReport {
	b := version.Read()
	return versionReport{
		Version: b.Version, Commit: b.Commit, Date: b.Date, Changed: b.Changed, Tags: b.Tags,
		Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, SIMD: isa.Name(), SIMDLevels: isa.Levels(), Cores: runtime.GOMAXPROCS(0),
	}
}

// print writes a line for each value that is known.
func (r versionReport) print(e *Env) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(e.Tables, "%s: %s\n", name, value)
		}
	}
	commit := r.Commit
	if r.Changed != nil && *r.Changed {
		commit += ", changed"
	}
	fmt.Fprintf(e.Tables, "swcaffe %s\n", r.Version)
	line("commit", commit)
	line("date", r.Date)
	line("go", r.Go+" "+r.Platform)
	line("simd", r.SIMD+" of "+strings.Join(r.SIMDLevels, ", "))
	line("tags", strings.Join(r.Tags, ", "))
	line("cores", fmt.Sprint(r.Cores))
}

// asksVersion reports whether a word asks for the version in place of a command.
func asksVersion(word string) bool {
	name, value := cutFlag(word)
	return name == Version.Name && (value == nil || *value == "true")
}
