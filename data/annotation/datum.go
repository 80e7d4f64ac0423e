package annotation

import (
	"fmt"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"math"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Groups returns the objects as an AnnotatedDatum stores them, one group for each run of objects of a class.
func Groups(objects []Object) []*caffepb.AnnotationGroup {
	var groups []*caffepb.AnnotationGroup
	for i, o := range objects {
		if i == 0 || objects[i-1].Label != o.Label {
			groups = append(groups, &caffepb.AnnotationGroup{GroupLabel: proto.Int32(int32(o.Label))})
		}
		g := groups[len(groups)-1]
		g.Annotation = append(g.Annotation, &caffepb.Annotation{
			InstanceId: proto.Int32(int32(o.Instance)),
			Bbox: &caffepb.NormalizedBBox{
				Xmin: &o.Box.XMin, Ymin: &o.Box.YMin, Xmax: &o.Box.XMax, Ymax: &o.Box.YMax, Difficult: proto.Bool(o.Difficult),
			},
		})
	}
	return groups
}

// AppendGroup appends the objects of a serialised AnnotationGroup. Coordinates that are not finite are an error.
func AppendGroup(objects []Object, raw []byte) ([]Object, error) {
	var g caffepb.AnnotationGroup
	if err := proto.Unmarshal(raw, &g); err != nil {
		return objects, fmt.Errorf("not an AnnotationGroup: %w", err)
	}
	for i, a := range g.GetAnnotation() {
		b := a.GetBbox()
		o := Object{
			Label: int(g.GetGroupLabel()), Instance: int(a.GetInstanceId()), Difficult: b.GetDifficult(),
			Box: box.Box{XMin: b.GetXmin(), YMin: b.GetYmin(), XMax: b.GetXmax(), YMax: b.GetYmax()},
		}
		for _, v := range [...]float32{o.Box.XMin, o.Box.YMin, o.Box.XMax, o.Box.YMax} {
			if !(math.Abs(float64(v)) <= math.MaxInt32) {
				return objects, fmt.Errorf("the box of annotation %d of class %d has the coordinate %g", i, o.Label, v)
			}
		}
		objects = append(objects, o)
	}
	return objects, nil
}
