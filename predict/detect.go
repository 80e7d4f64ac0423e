package predict

import (
	"context"
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/box"
)

// Object is an object that was found in an image. Its box is in pixels of the image.
type Object struct {
	Class                  int
	Label                  string
	Score                  float32
	XMin, YMin, XMax, YMax float32
}

// Detects returns an error unless the net has a detection layer, and its preprocessing keeps whole images.
func (m *Model) Detects() error {
	switch _, err := m.imageShape(); {
	case err != nil:
		return err
	case m.detector == "":
		return fmt.Errorf("%s has no DetectionOutput layer; is it a detection net for deployment?", m.opt.Net)
	case m.noPrepare != nil:
		return m.noPrepare
	case m.prepare.Crops():
		return errCrops
	}
	return nil
}

// Detect returns for each item the objects whose score is at least threshold, in the order of the net's rows. More items than Model.Batch are run in
// several batches. Detect ends with an error soon after ctx ends.
func (s *Session) Detect(ctx context.Context, threshold float64, items ...*Item) ([][]Object, error) {
	if err := s.model.Detects(); err != nil {
		return nil, err
	}
	all := make([][]Object, 0, len(items))
	err := s.runItems(ctx, items, func(p *plan, items []*Item) error {
		found := make([][]Object, len(items))
		for rows := p.rows.Data(); len(rows) >= rowValues; rows = rows[rowValues:] {
			image, class := int(rows[0]), int(rows[1])
			if class < 0 || image < 0 || image >= len(items) || !(float64(rows[2]) >= threshold) {
				continue
			}
			b := box.Of(rows[3:]).Clip(1, 1).Scale(float32(items[image].Width), float32(items[image].Height))
			found[image] = append(found[image], Object{class, s.model.objectName(class), rows[2], b.XMin, b.YMin, b.XMax, b.YMax})
		}
		all = append(all, found...)
		return nil
	})
	return all, err
}

// Detector returns the name of the output with the rows of a detection layer, whose number depends on the images; "" without one.
func (m *Model) Detector() string { return m.detector }

// rowValues is the number of values of a detection: image, class, score and box.
const rowValues = 7

func (m *Model) objectName(class int) string {
	if class < len(m.names) && m.names[class] != "" {
		return m.names[class]
	}
	return objectName(class)
}

// objectName is the name of a class of objects without one.
func objectName(class int) string { return fmt.Sprintf("class%d", class) }
