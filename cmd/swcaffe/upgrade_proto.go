package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
)

var upgradeNetTextCommand = upgradeCommand("upgrade_net_proto_text", "rewrite an old net definition in today's form",
	`Reads a net definition of any age (V0, V1, input fields, data transformations in layers) and writes it in today's form.
Comments are kept: those above and in a layer stand above it.`,
	"swcaffe upgrade_net_proto_text old.prototxt new.prototxt", upgradeNetText)

var upgradeNetBinaryCommand = upgradeCommand("upgrade_net_proto_binary", "rewrite old weights in today's form",
	"Reads a binary NetParameter, such as an old .caffemodel, and writes it in today's form.",
	"swcaffe upgrade_net_proto_binary old.caffemodel new.caffemodel", upgradeNetBinary)

var upgradeSolverTextCommand = upgradeCommand("upgrade_solver_proto_text", "rewrite an old solver in today's form",
	"Reads a solver, with solver_type instead of type if it is old, and writes it in today's form. Comments are kept above it.",
	"swcaffe upgrade_solver_proto_text old_solver.prototxt solver.prototxt", upgradeSolverText)

func upgradeCommand(name, summary, long, example string, upgrade func(e *env, in, out string) error) command {
	return command{
		name: name, summary: summary, args: "INPUT OUTPUT", example: example, words: []string{"in", "out"}, long: long,
		setup: func(fs *flag.FlagSet) func(*env) error {
			in := fs.String("in", "", "the `FILE` to read")
			out := fs.String("out", "", "the `FILE` to write")
			return func(e *env) error {
				if *in == "" || *out == "" {
					return fmt.Errorf("need two files: swcaffe %s INPUT OUTPUT", name)
				}
				return upgrade(e, *in, *out)
			}
		},
	}
}

func upgradeNetText(e *env, in, out string) error {
	n, err := swproto.ReadNet(in)
	if err != nil {
		return err
	}
	if n.Source == nil {
		return fmt.Errorf("%s is a binary file: use upgrade_net_proto_binary", in)
	}
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	warn(e, n.Warnings)
	if len(n.Warnings) > 0 {
		text = commented(text, swproto.MarshalText(n.Param), n.LayerPos)
	}
	return write(e, out, text)
}

func upgradeNetBinary(e *env, in, out string) error {
	p, warnings, err := swproto.ReadWeights(in)
	if err != nil {
		return err
	}
	warn(e, warnings)
	if err := swproto.WriteBinary(out, p); err != nil {
		return err
	}
	e.log.Infof("Wrote upgraded NetParameter binary proto to %s", out)
	return nil
}

func upgradeSolverText(e *env, in, out string) error {
	s, err := swproto.ReadSolver(in)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	warn(e, s.Warnings)
	if len(s.Warnings) > 0 {
		text = commented(text, swproto.MarshalText(s.Param), func(int) string { return "" })
	}
	return write(e, out, text)
}

func warn(e *env, warnings []string) {
	for _, w := range warnings {
		e.log.Warn(w)
	}
	if len(warnings) == 0 {
		e.log.Info("The file is in today's form already; it is copied as it is.")
	}
}

func write(e *env, out string, text []byte) error {
	err := swproto.WriteFileAtomic(out, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err == nil {
		e.log.Infof("Wrote %s", out)
	}
	return err
}

// commented puts the comments of an old text into a new one, whose layers stand in the same order: comments between the start of
// the layer before and the end of a layer go above it, and what follows the last layer to the end. pos gives file:line
// of a layer in the old text.
func commented(old, text []byte, pos func(layer int) string) []byte {
	comments := commentLines(old)
	var out bytes.Buffer
	next, layer := 0, 0
	flush := func(before int) {
		for ; next < len(comments) && comments[next].line < before; next++ {
			fmt.Fprintf(&out, "%s\n", comments[next].text)
		}
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "layer {") {
			if start := lineOf(pos(layer)); start > 0 {
				flush(start + 1)
			}
			layer++
		}
		out.WriteString(line)
	}
	flush(len(old) + 1)
	return out.Bytes()
}

type commentLine struct {
	line int // counted from 1
	text string
}

// commentLines finds the comments of a prototxt; a # in a string is none.
func commentLines(text []byte) []commentLine {
	var list []commentLine
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		var quote rune
		escaped := false
		for i, c := range line {
			switch {
			case escaped:
				escaped = false
			case quote != 0 && c == '\\':
				escaped = true
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '#':
				list = append(list, commentLine{n, strings.TrimSpace(line[i:])})
			}
			if c == '#' && quote == 0 {
				break // of the line
			}
		}
	}
	return list
}

// lineOf takes the line out of file:line, 0 if there is none.
func lineOf(pos string) int {
	n, err := strconv.Atoi(pos[strings.LastIndex(pos, ":")+1:])
	if err != nil {
		return 0
	}
	return n
}
