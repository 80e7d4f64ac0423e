package annotation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// cocoFile is the annotation of one image, as SSD's scripts cut it out of MS COCO's.
type cocoFile struct {
	Image *struct {
		Height *float64 `json:"height"`
		Width  *float64 `json:"width"`
		File   string   `json:"file_name,omitempty"`
	} `json:"image"`
	Annotations []cocoObject `json:"annotation"`
}

type cocoObject struct {
	Category json.RawMessage `json:"category_id"` // a number or a string: the class's name in the label map
	Crowd    int             `json:"iscrowd"`
	Box      []float64       `json:"bbox"` // x, y, width, height in pixels
}

// parseJSON reads an annotation of MS COCO. A crowd becomes a difficult object.
func (r Reader) parseJSON(to *Result, name string, text []byte, own Size) error {
	var file cocoFile
	if err := json.Unmarshal(text, &file); err != nil {
		return jsonError(name, text, err)
	}
	var stated *Size
	if i := file.Image; i != nil && i.Height != nil && i.Width != nil {
		stated = &Size{int(max(-1, min(*i.Height, math.MaxInt32))), int(max(-1, min(*i.Width, math.MaxInt32)))}
	}
	size, err := to.imageSize(name, stated, own)
	if err != nil {
		return err
	}
	if file.Annotations == nil {
		return fmt.Errorf("%s: the list \"annotation\" is missing", name)
	}
	for i, a := range file.Annotations {
		where := fmt.Sprintf("%s: annotation %d", name, i)
		if a.Category == nil {
			return fmt.Errorf("%s: category_id is missing", where)
		}
		class := string(a.Category)
		if strings.HasPrefix(class, `"`) {
			if err := json.Unmarshal(a.Category, &class); err != nil {
				return fmt.Errorf("%s: category_id: %w", where, err)
			}
		}
		label, err := r.label(where, class)
		if err != nil {
			return err
		}
		if len(a.Box) != 4 {
			return fmt.Errorf("%s: bbox has %d numbers, not 4: x, y, width, height", where, len(a.Box))
		}
		if err := to.room(where); err != nil {
			return err
		}
		for _, v := range a.Box {
			if math.Abs(v) > math.MaxInt32 {
				return fmt.Errorf("%s: bbox has the number %g, which is no coordinate", where, v)
			}
		}
		x, y := float32(a.Box[0]), float32(a.Box[1])
		to.Add(where, label, Corners{x, y, x + float32(a.Box[2]), y + float32(a.Box[3])}, size, a.Crowd != 0)
	}
	return nil
}

// jsonError adds the file and the line to an error of encoding/json.
func jsonError(name string, text []byte, err error) error {
	at := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	if at < 0 || at > int64(len(text)) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s:%d: %w", name, 1+bytes.Count(text[:at], []byte("\n")), err)
}
