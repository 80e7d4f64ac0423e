// Package model holds the commands for nets, solvers and weights as files: draw_net draws a net, fmt formats prototxts, upgrade_*
// rewrite files of old formats, export_onnx and import_onnx translate nets to and from ONNX, and verify compares both paths of every layer on a net.
package model

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/netdraw"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// DrawNet is the command draw_net.
var DrawNet = cli.Command{
	Name:     "draw_net",
	Synopsis: "draw a net as a picture",
	Args:     "INPUT.prototxt OUTPUT.svg|OUTPUT.png|OUTPUT.dot [-rankdir LR|TB|BT|RL] [-phase TRAIN|TEST|ALL] [-shapes]",
	Example:  "swcaffe draw_net -rankdir TB models/googlenet/train_val.prototxt googlenet.svg",
	Words:    []string{"in", "out"},
	Help: `Draws a net definition: a box for each layer with its type and sizes, with the layers that work on its blob in place below it, and an
arrow for each blob that a layer reads, labelled if its name differs from its layer's. Layers and blobs of only one phase are dashed.
With -shapes, a box has the shapes of its tops; if they differ, those of TRAIN before those of TEST.
A .dot file is for Graphviz; .svg and .png files need no other program.`,
	Do: cli.With(drawFlags, drawNet),
}

func drawFlags(fs *flag.FlagSet, o *drawOptions) {
	cli.StringVar(fs, &o.in, "in", "", "the net definition `FILE`", cli.Prototxt)
	cli.OutputVar(fs, &o.out, "out", "the `FILE` to write: .svg, .png or .dot")
	cli.StringVar(fs, &o.direction, "rankdir", "LR", "the direction from inputs to outputs: LR (left to right), TB (top to bottom), BT or RL", cli.OneOf("LR", "TB", "BT", "RL"))
	cli.StringVar(fs, &o.phase, "phase", "ALL", "the phase that is drawn: TRAIN, TEST or ALL", cli.OneOf("TRAIN", "TEST", "ALL"))
	fs.BoolVar(&o.shapes, "shapes", false, "show the shapes of tops. The net is built in memory, so that its data must be there")
	fs.BoolVar(&o.rates, "display_lrm", false, "show the learning-rate multipliers of weights")
	o.state.Register(fs)
}

type drawOptions struct {
	in, out, direction, phase string
	rates, shapes             bool
	state                     cli.StateFlags
}

func drawNet(e *cli.Env, o *drawOptions) error {
	opt, phases, err := o.options()
	if err != nil {
		return err
	}
	if o.in == "" || o.out == "" {
		return cli.Usagef("need two files: swcaffe draw_net INPUT.prototxt OUTPUT.svg")
	}
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(o.out)), ".")
	if !slices.Contains([]string{"svg", "png", "dot"}, format) {
		return cli.Usagef("%s: the name must end in .svg, .png or .dot", o.out)
	}
	if !slices.Contains([]string{"LR", "TB", "BT", "RL"}, opt.RankDir) {
		return cli.Usagef("-rankdir %q: must be LR, TB, BT or RL", opt.RankDir)
	}
	n, err := cli.ReadNet(e, o.in, &o.state)
	if err != nil {
		return err
	}
	for _, p := range phases {
		opt.States = append(opt.States, o.state.StateOver(n, p))
	}
	if o.shapes {
		if opt.Shapes, err = shapesOf(e, n, phases, &o.state); err != nil {
			return err
		}
	}
	graph, err := netdraw.New(n.Param, opt)
	if err != nil {
		return fmt.Errorf("%s: %w", o.in, err)
	}
	picture := graph.DOT()
	if format != "dot" {
		if picture, err = graph.Draw(format); err != nil {
			return err
		}
	}
	return e.WriteFile(o.out, picture)
}

// options converts the flags to netdraw.Options without states, and the phases to draw.
func (o *drawOptions) options() (netdraw.Options, []caffepb.Phase, error) {
	opt := netdraw.Options{RankDir: strings.ToUpper(o.direction), Rates: o.rates}
	phases := []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST}
	if o.phase != "ALL" {
		p, err := cli.ParsePhase(o.phase)
		if err != nil {
			return opt, nil, cli.Usagef("-phase %q: must be TRAIN, TEST or ALL", o.phase)
		}
		phases = []caffepb.Phase{p}
	}
	return opt, phases, nil
}

// shapesOf builds the net of each phase and returns the shapes of its tops.
func shapesOf(e *cli.Env, file *swproto.Net, phases []caffepb.Phase, flags *cli.StateFlags) (map[caffepb.Phase]map[string][]string, error) {
	machine, err := cpe.NewHost(0)
	if err != nil {
		return nil, err
	}
	defer machine.Close()
	shapes := map[caffepb.Phase]map[string][]string{}
	for _, phase := range phasesOf(file, phases, flags, e.Log) {
		device := &layers.Device{Machine: machine, Random: layers.NewRandom(1), Log: layers.NoLog()}
		n, err := cli.BuildNet(file, phase, flags, swnet.Options{Device: device, Economise: true, ForwardOnly: true})
		if err != nil {
			return nil, err
		}
		shapes[phase] = map[string][]string{}
		for i := range n.NumLayers() {
			for _, top := range n.Tops(i) {
				shapes[phase][n.LayerName(i)] = append(shapes[phase][n.LayerName(i)], top.ShapeString())
			}
		}
		if err := n.Close(); err != nil {
			return nil, err
		}
	}
	return shapes, nil
}
