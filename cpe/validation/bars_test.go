package validation_test

import (
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/modeltime"
)

// bar is what a bar of the figures holds: a layer, and with batch normalisation the scaling behind it, for which there is none;
// the bars make up the whole iteration. first is the layer, nil if there is none of the name.
func bar(r *modeltime.Report, name string) (forward, backward float64, first *modeltime.Layer) {
	i := slices.IndexFunc(r.Layers, func(l modeltime.Layer) bool { return layerName(l.Name) == layerName(name) })
	if i < 0 {
		return 0, 0, nil
	}
	layers := r.Layers[i : i+1]
	if r.Layers[i].Type == "BatchNorm" && i+1 < len(r.Layers) && r.Layers[i+1].Type == "Scale" {
		layers = r.Layers[i : i+2]
	}
	for _, l := range layers {
		forward += l.Forward.ModelledMs
		backward += l.BackwardMs()
	}
	return forward, backward, &layers[0]
}

// longer is the direction of a layer's longer gradient.
func longer(l *modeltime.Layer) shape.Direction {
	if in, weights := l.InputGradient, l.WeightGradient; in == nil || weights != nil && weights.ModelledMs > in.ModelledMs {
		return shape.WeightGradient
	}
	return shape.InputGradient
}

// layerName brings the usual spellings of a layer's name together: conv1_1_relu and relu1_1, conv1/bn and bn1.
func layerName(name string) string {
	name = strings.ReplaceAll(name, "/", "_")
	for _, kind := range []string{"relu", "bn", "scale", "drop", "dropout"} {
		if base, ok := strings.CutSuffix(name, "_"+kind); ok {
			return kind + strings.TrimPrefix(strings.TrimPrefix(base, "conv"), "fc")
		}
	}
	return name
}
