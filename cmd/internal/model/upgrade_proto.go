package model

import (
	"flag"
	"fmt"
	"strconv"

	"github.com/protocolbuffers/txtpbfmt/parser"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// UpgradeNetText is the command upgrade_net_proto_text.
var UpgradeNetText = upgradeCommand("upgrade_net_proto_text", "rewrite an old net definition in today's form",
	`Reads a net definition of any age (V0, V1, input fields, data transformations in layers) and writes it in today's form.
Comments stay with their fields.`,
	"swcaffe upgrade_net_proto_text old.prototxt new.prototxt", upgradeNetText)

// UpgradeNetBinary is the command upgrade_net_proto_binary.
var UpgradeNetBinary = upgradeCommand("upgrade_net_proto_binary", "rewrite old weights in today's form",
	"Reads a binary NetParameter, such as an old .caffemodel, and writes it in today's form.",
	"swcaffe upgrade_net_proto_binary old.caffemodel new.caffemodel", upgradeNetBinary)

// UpgradeSolverText is the command upgrade_solver_proto_text.
var UpgradeSolverText = upgradeCommand("upgrade_solver_proto_text", "rewrite an old solver in today's form",
	"Reads a solver, with solver_type instead of type if it is old, and writes it in today's form. Comments stay.",
	"swcaffe upgrade_solver_proto_text old_solver.prototxt solver.prototxt", upgradeSolverText)

// upgradeCommand makes a command that reads a file, upgrades its message and writes it to another file.
func upgradeCommand(name, summary, long, example string, upgrade func(e *cli.Env, o *upgradeOptions) error) cli.Command {
	return cli.Command{
		Name: name, Synopsis: summary, Args: "INPUT OUTPUT", Example: example, Words: []string{"in", "out"}, Help: long, InPlace: true,
		Do: cli.With(upgradeFlags, func(e *cli.Env, o *upgradeOptions) error {
			if o.in == "" || o.out == "" {
				return cli.Usagef("need two files: swcaffe %s INPUT OUTPUT", name)
			}
			return upgrade(e, o)
		}),
	}
}

func upgradeFlags(fs *flag.FlagSet, o *upgradeOptions) {
	cli.StringVar(fs, &o.in, "in", "", "the `FILE` to read", cli.AnyFile)
	cli.OutputVar(fs, &o.out, "out", "the `FILE` to write")
}

type upgradeOptions struct{ in, out string }

func upgradeNetText(e *cli.Env, o *upgradeOptions) error {
	n, err := swproto.ReadNet(o.in)
	if err != nil {
		return err
	}
	if n.Source == nil {
		return fmt.Errorf("%s is a binary file: use upgrade_net_proto_binary", o.in)
	}
	text, err := swproto.ReadFile(o.in)
	if err != nil {
		return err
	}
	warn(e, n.Warnings)
	if len(n.Warnings) > 0 {
		if text, err = carryComments(unixLines(text), swproto.MarshalText(n.Param), n.LayerOrigin); err != nil {
			return err
		}
	}
	return e.WriteFile(o.out, text)
}

func upgradeNetBinary(e *cli.Env, o *upgradeOptions) error {
	net, warnings, err := swproto.ReadBinaryNet(o.in)
	if err != nil {
		return err
	}
	warn(e, warnings)
	return e.WriteBinary(o.out, net)
}

func upgradeSolverText(e *cli.Env, o *upgradeOptions) error {
	text, err := swproto.ReadFile(o.in)
	if err != nil {
		return err
	}
	solver, err := swproto.UnmarshalSolver(o.in, text)
	if err != nil {
		return err
	}
	warn(e, solver.Warnings)
	if len(solver.Warnings) > 0 {
		if text, err = renameSolverType(unixLines(text), solver.Param); err != nil {
			return err
		}
	}
	return e.WriteFile(o.out, text)
}

// renameSolverType replaces solver_type in the old text of a solver by the type of the upgraded one, and leaves the rest as it
// is. If the formatter cannot read the text, it prints the upgraded message instead.
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

func warn(e *cli.Env, warnings []string) {
	for _, w := range warnings {
		e.Log.Warn(w)
	}
	if len(warnings) == 0 {
		e.Log.Info("The file is in today's form already; it is copied as it is.")
	}
}
