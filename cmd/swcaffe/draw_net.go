package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/internal/netdraw"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

var drawNetCommand = command{
	name:    "draw_net",
	summary: "draw a net as a picture",
	args:    "INPUT.prototxt OUTPUT.svg|OUTPUT.png|OUTPUT.dot [-rankdir LR|TB|BT|RL] [-phase TRAIN|TEST|ALL]",
	example: "swcaffe draw_net -rankdir TB models/googlenet/train_val.prototxt googlenet.svg",
	words:   []string{"in", "out"},
	long: `Draws a net definition: a box for each layer with its type and sizes, below it the layers that work on its blob in place, and an arrow
for each blob that is read, with the blob's name where it is not the layer's. What only one phase has is dashed. A .dot file is
for Graphviz; .svg and .png need nothing else.`,
	setup: func(fs *flag.FlagSet) func(*env) error {
		in := fs.String("in", "", "the net definition `FILE`")
		var out string
		outputVar(fs, &out, "out", "the `FILE` to write: .svg, .png or .dot")
		direction := fs.String("rankdir", "LR", "the direction from inputs to outputs: LR (left to right), TB (top to bottom), BT or RL")
		phase := fs.String("phase", "ALL", "the phase that is drawn: TRAIN, TEST or ALL")
		rates := fs.Bool("display_lrm", false, "show the learning-rate multipliers of weights")
		var state stateFlags
		state.register(fs)
		return func(e *env) error {
			opt := netdraw.Options{RankDir: strings.ToUpper(*direction), Rates: *rates}
			phases := []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST}
			if *phase != "ALL" {
				p, err := parsePhase(*phase)
				if err != nil {
					return fmt.Errorf("-phase %q: must be TRAIN, TEST or ALL", *phase)
				}
				phases = []caffepb.Phase{p}
			}
			for _, p := range phases {
				opt.States = append(opt.States, state.of(p))
			}
			return drawNet(e, *in, out, opt)
		}
	},
}

func drawNet(e *env, in, out string, opt netdraw.Options) error {
	if in == "" || out == "" {
		return errors.New("need two files: swcaffe draw_net INPUT.prototxt OUTPUT.svg")
	}
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(out)), ".")
	if !slices.Contains([]string{"svg", "png", "dot"}, format) {
		return fmt.Errorf("%s: the name must end in .svg, .png or .dot", out)
	}
	if !slices.Contains([]string{"LR", "TB", "BT", "RL"}, opt.RankDir) {
		return fmt.Errorf("-rankdir %q: must be LR, TB, BT or RL", opt.RankDir)
	}
	n, err := readNet(e, in)
	if err != nil {
		return err
	}
	graph, err := netdraw.New(n.Param, opt)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	picture := graph.DOT()
	if format != "dot" {
		if picture, err = graph.Draw(format); err != nil {
			return err
		}
	}
	return e.write(out, picture)
}
