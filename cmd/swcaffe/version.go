package main

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

var versionCommand = command{
	name:    "version",
	summary: "print the version and what it was built for",
	args:    "",
	example: "swcaffe version",
	long:    "Prints the version, the Go release and platform, the SIMD level in use and the number of cores, a line each.",
	do: with(func(*flag.FlagSet, *struct{}) {}, func(e *env, _ *struct{}) error {
		printVersion(e.stdout)
		return nil
	}),
}

func printVersion(w io.Writer) {
	fmt.Fprintf(w, "swcaffe %s\ngo: %s %s/%s\nsimd: %s\ncores: %d\n",
		version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, isa.Name(), runtime.GOMAXPROCS(0))
}

// version is the module's version, with the commit where the build knows it.
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
