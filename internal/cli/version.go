package cli

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

// Version is the command version.
var Version = Command{
	Name:     "version",
	Prints:   true,
	Synopsis: "print the version and what it was built for",
	Args:     "[-json FILE]",
	Example:  "swcaffe version",
	Help:     "Prints the version, the Go release and platform, the SIMD level in use and the number of cores, a line each.",
	Do: With(func(fs *flag.FlagSet, o *versionOptions) {
		OutputVar(fs, &o.json, "json", "write them to `FILE` as well (docs/json.md); -: to standard output, alone")
	}, func(e *Env, o *versionOptions) error {
		printVersion(e.Tables)
		return e.WriteJSON(o.json, versionReport{version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, isa.Name(), runtime.GOMAXPROCS(0)})
	}),
}

type versionOptions struct{ json string }

// versionReport is the file of -json.
type versionReport struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	SIMD     string `json:"simd"`
	Cores    int    `json:"cores"`
}

func printVersion(w io.Writer) {
	fmt.Fprintf(w, "swcaffe %s\ngo: %s %s/%s\nsimd: %s\ncores: %d\n",
		version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, isa.Name(), runtime.GOMAXPROCS(0))
}

// version returns the module's version, with the commit if the build recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " " + s.Value[:12]
		}
	}
	return v
}
