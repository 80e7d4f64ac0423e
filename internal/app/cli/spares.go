package cli

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// input is a file that a command reads, and the flag that named it or its folder.
type input struct {
	flag, path string
	info       fs.FileInfo
}

// inputs are the files that a command reads, by their size and time: there may be very many.
type inputs map[stamp][]input

// stamp is what all names of a file have in common.
type stamp struct{ size, time int64 }

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime().UnixNano()} }

// output is a file that a flag asks for.
type output struct{ flag, path string }

// inputsOf returns the files that flags name and that are no outputs. A folder stands for the files of the database that it holds.
func inputsOf(own *flag.FlagSet) inputs {
	all := inputs{}
	own.VisitAll(func(f *flag.Flag) {
		v, ok := f.Value.(*text)
		if !ok || len(v.takes.endings) == 0 && !v.takes.folders || slices.Contains(outputNames, f.Name) {
			return
		}
		for _, path := range v.values() {
			list := []string{path}
			if v.takes.listed {
				list = strings.Split(path, ",")
			}
			for _, path := range list {
				all.add(f.Name, append(databaseFiles(path), path)...)
				if slices.Contains(v.takes.endings, ".prototxt") {
					all.addNamed(f.Name, path, true)
				}
			}
		}
	})
	return all
}

// add adds those of the files that there are.
func (all inputs) add(flag string, paths ...string) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			at := stampOf(info)
			all[at] = append(all[at], input{flag, path, info})
		}
	}
}

// naming is a field of a prototxt with the name of a file that is read.
var naming = regexp.MustCompile(`\b(net|train_net|test_net|source|mean_file)\s*:\s*["']([^"']+)["']`)

// mostNaming limits the bytes of a prototxt that is searched for names.
const mostNaming = 1 << 24

// addNamed adds the files that a prototxt names: what data layers read and, if it may be a solver, nets with what these name.
func (all inputs) addNamed(flag, path string, solver bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > mostNaming {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return // who reads it says why
	}
	for _, field := range naming.FindAllStringSubmatch(string(text), -1) {
		name := field[2]
		all.add(flag, append(databaseFiles(name), name)...)
		if solver && strings.HasSuffix(field[1], "net") {
			all.addNamed(flag, name, false)
		}
	}
}

// databaseFiles lists the files of the LMDB or LevelDB in a folder.
func databaseFiles(folder string) (files []string) {
	for _, pattern := range []string{"data.mdb", "CURRENT", "MANIFEST-*", "*.ldb", "*.sst"} {
		found, _ := filepath.Glob(filepath.Join(folder, pattern)) // a name that is no pattern has no files
		files = append(files, found...)
	}
	return files
}

// Reading says that the command reads files that a flag stands for, as those of a folder. It returns an error if a flag asks for one of them as output.
func (e *Env) Reading(flag string, files []string) error {
	if e.reads != nil {
		e.reads.add(flag, files...)
	}
	return e.spareAll()
}

// spareAll returns an error if a flag's output is a file that the command reads.
func (e *Env) spareAll() error {
	for _, out := range e.writes {
		if err := e.Spares(out.path); err != nil {
			return Usagef("-%s %s: %w", out.flag, out.path, err)
		}
	}
	return nil
}

// Spares returns an error if a file that the command is to write is one that it reads, under whatever name.
func (e *Env) Spares(path string) error {
	to, err := os.Stat(path)
	if err != nil {
		return nil // there is none
	}
	for _, in := range e.reads[stampOf(to)] {
		if os.SameFile(in.info, to) {
			return Usagef("this would replace %s, which -%s reads: choose another name to write to", path, in.flag)
		}
	}
	return nil
}
