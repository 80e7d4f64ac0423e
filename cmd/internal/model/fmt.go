package model

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/protocolbuffers/txtpbfmt/config"
	"github.com/protocolbuffers/txtpbfmt/parser"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Fmt is the command fmt.
var Fmt = cli.Command{
	Name:     "fmt",
	Synopsis: "format prototxts",
	Args:     "[-w] [-l] [FILE...]",
	Example:  "swcaffe fmt -w models/lenet/train_val.prototxt models/lenet/solver.prototxt",
	Words:    []string{"file..."},
	InPlace:  true,
	Help: `Prints nets and solvers with two spaces a level, one field per line in messages of more than one line, one kind of quotes
and no blank lines in a row. Comments stay where they are. A file that cannot be read is an error. The result
is read again, and written only if it holds the same message as the file. Without a FILE, or with -, it formats standard input, as
editors need it.`,
	Do: cli.With(fmtFlags, formatFiles),
}

func fmtFlags(fs *flag.FlagSet, o *fmtOptions) {
	cli.AppendVar(fs, &o.files, "file", "a prototxt `FILE`; may be given several times", cli.Prototxt)
	fs.BoolVar(&o.inPlace, "w", false, "write the result to the file instead of printing it")
	fs.BoolVar(&o.list, "l", false, "print the names of the files that are not formatted, nothing else")
}

type fmtOptions struct {
	files         []string
	inPlace, list bool
}

func formatFiles(e *cli.Env, o *fmtOptions) error {
	if len(o.files) == 0 {
		o.files = []string{cli.StandardStream}
	}
	var failed error
	for _, path := range o.files {
		failed = errors.Join(failed, formatFile(e, path, o.inPlace, o.list))
	}
	return failed
}

func formatFile(e *cli.Env, path string, inPlace, list bool) error {
	if path == cli.StandardStream && inPlace {
		return cli.Usagef("-w writes files; the result for standard input can only be printed")
	}
	text, path, err := cli.ReadInput(path)
	if err != nil {
		return err
	}
	formatted, err := formatText(path, text)
	if err != nil {
		return err
	}
	same := bytes.Equal(text, formatted)
	if list && !same {
		fmt.Fprintln(e.Stdout, path)
	}
	if inPlace && !same {
		return e.WriteFile(path, formatted)
	}
	if !list && !inPlace {
		_, err = e.Stdout.Write(formatted)
	}
	return err
}

// formatText formats a net or a solver. It fails unless the result holds the same message and the same comments.
func formatText(path string, text []byte) ([]byte, error) {
	message, err := readEither(path, text)
	if err != nil {
		return nil, err
	}
	text = unixLines(text)
	formatted, err := parser.FormatWithConfig(text, config.Config{SkipAllColons: true})
	if err != nil && strings.Contains(err.Error(), "multiple-string value") { // its text has the formatter's own structures
		return nil, fmt.Errorf("%s: in a list, strings side by side are one value, as in [\"a\" \"b\", \"c\"]; the formatter does not know that: make one string of them", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: the formatter cannot read it: %w", path, err)
	}
	again := message.ProtoReflect().New().Interface()
	if _, err := swproto.UnmarshalText(path, formatted, again); err != nil {
		return nil, fmt.Errorf("%s: cannot be formatted, the result would not be read: %w", path, err)
	}
	if !proto.Equal(message, again) {
		return nil, fmt.Errorf("%s: cannot be formatted, the result would say something else", path)
	}
	return formatted, lostComment(path, text, formatted)
}

// unixLines replaces Windows' line ends by Unix'. The formatter would keep Windows' line ends inside comments only.
func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// readEither reads a text as a net or a solver. If both fail, it returns the shorter list of errors.
func readEither(path string, text []byte) (proto.Message, error) {
	if swproto.LooksBinary(text) {
		return nil, fmt.Errorf("%s: a binary file; only text is formatted", path)
	}
	var least swproto.Errors
	for _, m := range []proto.Message{&caffepb.NetParameter{}, &caffepb.SolverParameter{}} {
		_, err := swproto.UnmarshalText(path, text, m)
		if err == nil {
			return m, nil
		}
		var list swproto.Errors
		if !errors.As(err, &list) {
			return nil, err
		}
		if least == nil || len(list) < len(least) {
			least = list
		}
	}
	return nil, least
}

// lostComment fails if the formatted text lacks a comment. The formatter drops comments between a field's name and its value.
func lostComment(path string, text, formatted []byte) error {
	for _, c := range missingComments(text, formatted) {
		return fmt.Errorf("%s:%d: the comment %q would be lost; it should stand above its line or at the end of it", path, c.line, c.text)
	}
	return nil
}
