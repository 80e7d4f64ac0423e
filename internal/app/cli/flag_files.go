package cli

import (
	"fmt"
	"os"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
)

const (
	flagFile           = "flagfile"
	fromEnvironment    = "fromenv"
	tryFromEnvironment = "tryfromenv"
	maxFlagFiles       = 10 // depth of nesting: a flag file may name another one
)

// expandFlagFiles replaces -flagfile FILE by the flags in it, a flag a line, "-name=value" or "-name value"; blank lines
// and lines that begin with # are skipped. -fromenv NAME,... is replaced by -NAME=$FLAGS_NAME. files are the FILEs.
func expandFlagFiles(args []string, depth int) (out, files []string, err error) {
	if depth > maxFlagFiles {
		return nil, nil, fmt.Errorf("-%s: files name each other more than %d deep", flagFile, maxFlagFiles)
	}
	for i := 0; i < len(args); i++ {
		name, path := cutFlag(args[i])
		if name != flagFile && name != fromEnvironment && name != tryFromEnvironment {
			out = append(out, args[i])
			continue
		}
		if path == nil {
			if i++; i == len(args) {
				return nil, nil, needsValue(name)
			}
			path = &args[i]
		}
		if name != flagFile {
			flags, err := environmentFlags(*path, name == fromEnvironment)
			if err != nil {
				return nil, nil, err
			}
			out = append(out, flags...)
			continue
		}
		text, err := swproto.ReadFile(*path)
		if err != nil {
			return nil, nil, fmt.Errorf("-%s: %w", flagFile, err)
		}
		inside, more, err := expandFlagFiles(flagLines(string(text)), depth+1)
		if err != nil {
			return nil, nil, err
		}
		out, files = append(out, inside...), append(append(files, *path), more...)
	}
	return out, files, nil
}

func flagLines(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, found := strings.Cut(line, " ")
		if out = append(out, name); found {
			out = append(out, strings.TrimSpace(value))
		}
	}
	return out
}

// environmentFlags returns flags for a list of names, with the values of the environment variables FLAGS_NAME. With must, a
// missing variable is an error.
func environmentFlags(names string, must bool) (flags []string, err error) {
	for name := range strings.SplitSeq(names, ",") {
		value, ok := os.LookupEnv("FLAGS_" + name)
		if !ok && must {
			return nil, fmt.Errorf("-%s %s: the environment has no FLAGS_%s", fromEnvironment, names, name)
		}
		if ok {
			flags = append(flags, "-"+name+"="+value)
		}
	}
	return flags, nil
}
