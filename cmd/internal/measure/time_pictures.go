package measure

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"github.com/swcaffe/swcaffe/internal/app/modelplot"
	"github.com/swcaffe/swcaffe/modeltime"
)

// timePictures are the pictures that time draws of a modelled machine.
type timePictures struct {
	roofline, rooflineFormat string
	heatmap, heatmapFormat   string
	mesh                     *modeltime.MeshOptions // for the heat map; nil: none
}

// pictures reads the flags of the pictures.
func (f *modelFlags) pictures() (*timePictures, error) {
	p := &timePictures{roofline: f.roofline, heatmap: f.heatmap}
	var err error
	if p.roofline != "" {
		if p.rooflineFormat, err = figure.Format(p.roofline); err != nil {
			return nil, cli.Usagef("-roofline %w", err)
		}
	}
	if p.heatmap == "" {
		if f.layer != "" || f.direction != "forward" {
			return nil, cli.Usagef("-layer and -direction are for -heatmap FILE")
		}
		return p, nil
	}
	if p.heatmapFormat, err = figure.Format(p.heatmap); err != nil {
		return nil, cli.Usagef("-heatmap %w", err)
	}
	if f.layer == "" {
		return nil, cli.Usagef("-heatmap needs the layer to look at: -layer NAME")
	}
	p.mesh = &modeltime.MeshOptions{Layer: f.layer}
	switch f.direction {
	case "forward":
	case "weights":
		p.mesh.Direction = shape.WeightGradient
	case "input":
		p.mesh.Direction = shape.InputGradient
	default:
		return nil, cli.Usagef("-direction %q: must be forward, weights or input", f.direction)
	}
	return p, nil
}

// draw writes the pictures of a report.
func (p *timePictures) draw(e *cli.Env, r *modeltime.Report, spec cpe.Spec) error {
	if p.roofline != "" {
		picture, err := modelplot.Roofline(r, spec, p.rooflineFormat)
		if err != nil {
			return fmt.Errorf("-roofline %s: %w", p.roofline, err)
		}
		if err := e.WriteFile(p.roofline, picture); err != nil {
			return err
		}
	}
	if p.heatmap == "" {
		return nil
	}
	picture, err := modelplot.Mesh(r, p.heatmapFormat)
	if err != nil {
		return fmt.Errorf("-heatmap %s: %w", p.heatmap, err)
	}
	return e.WriteFile(p.heatmap, picture)
}
