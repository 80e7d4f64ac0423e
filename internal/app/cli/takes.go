package cli

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/data/imageio"
)

// Takes says what a flag takes: fixed values, or files by their endings, or folders. Command lines are completed by it, and words without a flag that can only be
// for the last flag go there. Commands check values themselves.
type Takes struct {
	values  []string
	endings []string // of files; "" is the ending of all
	folders bool
	listed  bool // several, separated by commas
}

// What flags of many commands take.
var (
	AnyFile     = FileOf("")
	Folder      = Takes{folders: true}
	Prototxt    = FileOf(".prototxt")
	Weights     = FileOf(".caffemodel", ".caffemodel.h5").Listed()
	SolverState = FileOf(".solverstate", ".solverstate.h5")
	ONNX        = FileOf(".onnx")
	Images      = Takes{endings: imageio.Extensions(), folders: true}
)

// OneOf is for a flag with fixed values.
func OneOf(values ...string) Takes { return Takes{values: values} }

// FileOf is for a flag with a file that has one of some endings.
func FileOf(endings ...string) Takes { return Takes{endings: endings} }

// OrFiles adds the files of another flag.
func (t Takes) OrFiles(other Takes) Takes {
	t.endings = append(slices.Clone(t.endings), other.endings...)
	return t
}

// Listed is for a list separated by commas.
func (t Takes) Listed() Takes {
	t.listed = true
	return t
}

// claims reports whether a word looks like what the flag takes, and not like any file: a fixed value, a file with one of the endings, or a folder that exists.
func (t Takes) claims(word string) bool {
	if slices.Contains(t.values, word) {
		return true
	}
	ends := func(ending string) bool { return ending != "" && strings.HasSuffix(strings.ToLower(word), ending) }
	if slices.ContainsFunc(t.endings, ends) {
		return true
	}
	info, err := os.Stat(word)
	return t.folders && err == nil && info.IsDir()
}

// text is the value of a flag of StringVar or AppendVar.
type text struct {
	set   func(string)
	get   func() string
	takes Takes
	given []string // all that was given, also what a later one has replaced: some flags of serve are of several models
}

// values returns what was given, or else the default.
func (v *text) values() []string {
	if len(v.given) == 0 {
		return []string{v.String()}
	}
	return v.given
}

func (v *text) String() string {
	if v == nil || v.get == nil {
		return ""
	}
	return v.get()
}

func (v *text) Get() any { return v.String() }

func (v *text) Set(s string) error {
	v.set(s)
	v.given = append(v.given, s)
	return nil
}

// StringVar registers a flag as fs.StringVar does, and says what it takes.
func StringVar(fs *flag.FlagSet, p *string, name, value, usage string, takes Takes) {
	*p = value
	fs.Var(&text{set: func(s string) { *p = s }, get: func() string { return *p }, takes: takes}, name, usage)
}

// AppendVar registers a flag that may be given several times. Each time appends a value.
func AppendVar(fs *flag.FlagSet, p *[]string, name, usage string, takes Takes) {
	fs.Var(&text{set: func(s string) { *p = append(*p, s) }, takes: takes}, name, usage)
}

// FuncVar registers a flag that calls set, and may be given several times.
func FuncVar(fs *flag.FlagSet, set func(string), name, usage string, takes Takes) {
	fs.Var(&text{set: set, takes: takes}, name, usage)
}

// takenBy says what a flag takes: nothing is known of numbers and most texts.
func takenBy(f *flag.Flag) Takes {
	switch v := f.Value.(type) {
	case *text:
		return v.takes
	case *outputFile:
		return AnyFile
	}
	switch f.Name {
	case flagFile:
		return AnyFile
	case "log_dir", "log_link":
		return Folder
	}
	return Takes{}
}

// candidates lists the values that begin with a text. Folders end in a slash. files reports that the values are paths.
func (t Takes) candidates(begin string) (list []candidate, files bool) {
	before := ""
	if t.listed {
		cut := strings.LastIndexByte(begin, ',') + 1
		before, begin = begin[:cut], begin[cut:]
	}
	for _, v := range t.values {
		if strings.HasPrefix(v, begin) {
			list = append(list, candidate{word: before + v})
		}
	}
	if !t.folders && t.endings == nil {
		return list, false
	}
	for _, path := range t.paths(begin) {
		list = append(list, candidate{word: before + path})
	}
	return list, true
}

// paths lists the folders, and the files with the right endings, whose paths begin with a text. Those whose names begin with a dot are
// left out unless the text has the dot.
func (t Takes) paths(begin string) (list []string) {
	dir, name := filepath.Split(begin)
	real := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			real = filepath.Join(home, rest)
		}
	}
	if real == "" {
		real = "."
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return nil // there is nothing to offer
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) || name == "" && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(real, e.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			list = append(list, dir+e.Name()+"/")
		} else if slices.ContainsFunc(t.endings, func(ending string) bool { return strings.HasSuffix(path, ending) }) {
			list = append(list, dir+e.Name())
		}
	}
	return list
}
