package measure

import (
	"fmt"
	"io"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/modeltime"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// timeDry prints what a net holds and computes for an image; nothing runs.
func timeDry(e *cli.Env, o *timeOptions, phase caffepb.Phase) error {
	file, err := cli.ReadNet(e, o.model, &o.state)
	if err != nil {
		return err
	}
	s, err := modeltime.Measure(file, modeltime.SizeOptions{State: o.state.StateOver(file, phase), Batch: o.modelled.batch})
	if err != nil {
		return err
	}
	s.Model = o.model
	printSize(e.Tables, s)
	return e.WriteJSON(o.json, s)
}

// printSize prints a line a layer and the totals.
func printSize(w io.Writer, s *modeltime.Size) {
	fmt.Fprintf(w, "%-32s %-18s %-26s %12s %16s\n", "layer", "type", "tops", "parameters", "FLOPs an image")
	for _, l := range s.Layers {
		var shapes []string
		for _, t := range l.Tops {
			shapes = append(shapes, strings.ReplaceAll(strings.Trim(fmt.Sprint(t), "[]"), " ", "x"))
		}
		fmt.Fprintf(w, "%-32s %-18s %-26s %12d %16.0f\n", l.Name, l.Type, strings.Join(shapes, " "), l.Parameters, l.Flops)
	}
	fmt.Fprintf(w, "\n%s, batch %d: %d parameters (%.1f MB), %d stored statistics, %.4g GFLOPs an image forward (%.4g G multiply-adds)\n",
		s.Model, s.Batch, s.Parameters, float64(4*s.Parameters)/(1<<20), s.Statistics, s.Flops/1e9, s.Flops/2e9)
}
