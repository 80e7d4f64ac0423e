package dataset

import (
	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// noLabel is the label of the Datum in an AnnotatedDatum with boxes.
const noLabel = -1

// annotated returns the record of an image with its objects.
func annotated(d *caffepb.Datum, objects []annotation.Object) *caffepb.AnnotatedDatum {
	return &caffepb.AnnotatedDatum{Datum: d, Type: caffepb.AnnotatedDatum_BBOX.Enum(), AnnotationGroup: annotation.Groups(objects)}
}
