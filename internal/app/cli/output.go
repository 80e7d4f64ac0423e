package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	swproto "github.com/swcaffe/swcaffe/proto"
	"google.golang.org/protobuf/proto"
)

// StandardStream is the file name for standard output, and for standard input in flags that name a log or a prototxt.
const StandardStream = "-"

// outputFile is the value of a flag that names a file to write.
type outputFile string

func (f *outputFile) String() string {
	if f == nil {
		return ""
	}
	return string(*f)
}

func (f *outputFile) Set(path string) error {
	*f = outputFile(path)
	return nil
}

// OutputVar registers a flag that names a file to write.
func OutputVar(fs *flag.FlagSet, path *string, name, usage string) {
	fs.Var((*outputFile)(path), name, usage)
}

// direct checks the output files of flags before the command starts: they must be writable. One of them may be standard output;
// tables are then not printed.
func (e *Env) direct(fs *flag.FlagSet) (err error) {
	fs.VisitAll(func(f *flag.Flag) {
		file, ok := f.Value.(*outputFile)
		switch {
		case !ok || *file == "" || err != nil:
		case *file == StandardStream && e.Tables == io.Discard:
			err = Usagef("two files are to be written to standard output: only one flag may name -")
		case *file == StandardStream:
			e.Tables = io.Discard
		default:
			dir := filepath.Dir(string(*file))
			if info, statErr := os.Stat(dir); statErr != nil {
				err = fmt.Errorf("-%s %s: %w", f.Name, *file, statErr)
			} else if !info.IsDir() {
				err = fmt.Errorf("-%s %s: %s is no folder", f.Name, *file, dir)
			} else if writeErr := swproto.CheckWritable(string(*file)); writeErr != nil {
				err = fmt.Errorf("-%s: %w", f.Name, writeErr)
			}
			e.writes = append(e.writes, output{f.Name, string(*file)})
		}
	})
	if err != nil {
		return err
	}
	return e.spareAll()
}

// WriteFile writes a flag's output file, complete or not at all, or standard output.
func (e *Env) WriteFile(path string, text []byte) error {
	return e.CreateFile(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// CreateFile is WriteFile for contents produced by a function.
func (e *Env) CreateFile(path string, write func(w io.Writer) error) error {
	if path == StandardStream {
		return write(e.Stdout)
	}
	if err := e.Spares(path); err != nil {
		return err
	}
	err := swproto.WriteFileAtomic(path, func(f *os.File) error { return write(f) })
	if err == nil {
		e.Log.Infof("Wrote %s", path)
	}
	return err
}

// WriteBinary writes a message as swproto.WriteBinary does.
func (e *Env) WriteBinary(path string, m proto.Message) error {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return e.WriteFile(path, data)
}

// WriteJSON writes a report. With path "" it does nothing.
func (e *Env) WriteJSON(path string, report any) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return fmt.Errorf("-json %s: %w", path, err)
	}
	return e.WriteFile(path, append(text, '\n'))
}

// ReadInput reads a whole file, or standard input. name is its name in messages and results.
func ReadInput(path string) (text []byte, name string, err error) {
	if path == StandardStream {
		text, err = swproto.ReadInput(standardInput)
		return text, standardInput, err
	}
	text, err = swproto.ReadFile(path)
	return text, path, err
}

// standardInput is the name of standard input in messages.
const standardInput = "stdin"

// OpenInput opens a file for sequential reading, or standard input. name is its name in messages and results.
func OpenInput(path string) (f *os.File, name string, err error) {
	if path == StandardStream {
		return os.Stdin, standardInput, nil
	}
	f, err = os.Open(path)
	return f, path, err
}

// CheckFolder fails if path is standard output; what names the folder in the error.
func CheckFolder(path, what string) error {
	if path == StandardStream {
		return Usagef("%s is a folder and cannot be written to standard output (-)", what)
	}
	return nil
}
