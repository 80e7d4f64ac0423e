package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/protocolbuffers/txtpbfmt/parser"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

var upgradeNetTextCommand = upgradeCommand("upgrade_net_proto_text", "rewrite an old net definition in today's form",
	`Reads a net definition of any age (V0, V1, input fields, data transformations in layers) and writes it in today's form.
Comments stay with the fields that they stood at.`,
	"swcaffe upgrade_net_proto_text old.prototxt new.prototxt", upgradeNetText)

var upgradeNetBinaryCommand = upgradeCommand("upgrade_net_proto_binary", "rewrite old weights in today's form",
	"Reads a binary NetParameter, such as an old .caffemodel, and writes it in today's form.",
	"swcaffe upgrade_net_proto_binary old.caffemodel new.caffemodel", upgradeNetBinary)

var upgradeSolverTextCommand = upgradeCommand("upgrade_solver_proto_text", "rewrite an old solver in today's form",
	"Reads a solver, with solver_type instead of type if it is old, and writes it in today's form. Comments stay.",
	"swcaffe upgrade_solver_proto_text old_solver.prototxt solver.prototxt", upgradeSolverText)

func upgradeCommand(name, summary, long, example string, upgrade func(e *env, in, out string) error) command {
	return command{
		name: name, summary: summary, args: "INPUT OUTPUT", example: example, words: []string{"in", "out"}, long: long,
		setup: func(fs *flag.FlagSet) func(*env) error {
			in := fs.String("in", "", "the `FILE` to read")
			var out string
			outputVar(fs, &out, "out", "the `FILE` to write")
			return func(e *env) error {
				if *in == "" || out == "" {
					return fmt.Errorf("need two files: swcaffe %s INPUT OUTPUT", name)
				}
				return upgrade(e, *in, out)
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
		if text, err = carryComments(unixLines(text), swproto.MarshalText(n.Param), n.LayerOrigin); err != nil {
			return err
		}
	}
	return e.write(out, text)
}

func upgradeNetBinary(e *env, in, out string) error {
	w, err := swproto.ReadWeights(in)
	if err != nil {
		return err
	}
	warn(e, w.Warnings)
	return e.writeBinary(out, w.Param)
}

func upgradeSolverText(e *env, in, out string) error {
	text, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	solver, err := swproto.UnmarshalSolver(in, text)
	if err != nil {
		return err
	}
	warn(e, solver.Warnings)
	if len(solver.Warnings) > 0 {
		if text, err = renameSolverType(unixLines(text), solver.Param); err != nil {
			return err
		}
	}
	return e.write(out, text)
}

// renameSolverType puts the type of an upgraded solver into its old text, where solver_type stands; all else stays as it is. Where the
// formatter cannot read the text, it is printed anew.
func renameSolverType(text []byte, p *caffepb.SolverParameter) ([]byte, error) {
	nodes, err := parser.Parse(text)
	field := find(nodes, "solver_type", 0)
	if err != nil || field == nil || len(field.Values) == 0 {
		return carryComments(text, swproto.MarshalText(p), func(int) int { return -1 })
	}
	field.Name, field.Values[0].Value = "type", strconv.Quote(p.GetType())
	out := []byte(parser.Pretty(nodes, 0))
	return append(topComments(text, out), out...), nil
}

func warn(e *env, warnings []string) {
	for _, w := range warnings {
		e.log.Warn(w)
	}
	if len(warnings) == 0 {
		e.log.Info("The file is in today's form already; it is copied as it is.")
	}
}
