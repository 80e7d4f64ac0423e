package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/predict"
)

// decode makes an item of the bytes of a JPEG or PNG file.
func (v *version) decode(file []byte) (*predict.Item, error) {
	if kind := http.DetectContentType(file); kind != "image/jpeg" && kind != "image/png" {
		return nil, badf("%d bytes are no JPEG or PNG file", len(file))
	}
	picture, err := imageio.Open(file, v.model.Mode())
	if err != nil {
		return nil, badf("the image: %w", err)
	}
	if height, width := picture.Size(); height*width > v.maxPixels {
		return nil, failf(http.StatusRequestEntityTooLarge, "the image has height %d and width %d, at most %d pixels are decoded", height, width, v.maxPixels)
	}
	item, err := v.model.Decode(file)
	if err != nil {
		return nil, badf("the image: %w", v.unable(err))
	}
	return item, nil
}

// decodeAll makes the net's input of a BYTES tensor, whose elements are image files.
func (v *version) decodeAll(t tensor) ([]tensor, error) {
	inputs := v.model.Inputs()
	if len(inputs) != 1 || len(inputs[0].Shape) != 4 {
		return nil, badf("input %q: BYTES are images, model %q does not take images", t.name, v.name)
	}
	if most := v.most(); len(t.elements) > most {
		return nil, badf("%d images in a request; model %q takes at most %d at once", len(t.elements), v.name, most)
	}
	made := tensor{name: t.name, shape: append([]int{len(t.elements)}, inputs[0].Shape[1:]...)}
	size := 1
	for _, n := range inputs[0].Shape[1:] {
		size *= n
	}
	if len(t.elements) > v.maxPixels/max(size, 1) {
		return nil, failf(http.StatusRequestEntityTooLarge, "%d images of %d values in a request are too many", len(t.elements), size)
	}
	for i, file := range t.elements {
		item, err := v.decode(file)
		if err != nil {
			return nil, badf("input %q: element %d: %w", t.name, i, err)
		}
		made.values = append(made.values, item.Values...)
	}
	return []tensor{made}, nil
}

// labelled is a class as classify's -json has it.
type labelled struct {
	Class int    `json:"class"`
	Label string `json:"label"`
	Score number `json:"score"`
}

// found is an object; its box is in pixels of the image.
type found struct {
	labelled
	XMin float32 `json:"xmin"`
	YMin float32 `json:"ymin"`
	XMax float32 `json:"xmax"`
	YMax float32 `json:"ymax"`
}

// number is a float32 as JSON has it: null if it is not finite.
type number float32

func (f number) MarshalJSON() ([]byte, error) {
	list := numbers([]float32{float32(f)})
	return list[1 : len(list)-1], nil
}

// labels and objects are the answers of classify and detect.
type (
	labels struct {
		ModelName    string     `json:"model_name"`
		ModelVersion string     `json:"model_version"`
		Predictions  []labelled `json:"predictions"`
	}
	objects struct {
		ModelName    string  `json:"model_name"`
		ModelVersion string  `json:"model_version"`
		Height       int     `json:"height"`
		Width        int     `json:"width"`
		Objects      []found `json:"objects"`
	}
)

// classify answers an image with its labels.
func (s *Server) classify(w http.ResponseWriter, r *http.Request, v *version) error {
	if err := v.model.Classifies(); err != nil {
		return v.unable(err)
	}
	q, err := readQuery(r, labelFields)
	if err != nil {
		return err
	}
	item, err := v.decode(q.file)
	if err != nil {
		return err
	}
	in := v.model.Inputs()[0]
	j := newJob(r.Context())
	shape := append([]int{1}, in.Shape[1:]...)
	j.inputs, j.items = []predict.Array{{Name: in.Name, Shape: shape, Values: item.Values}}, 1
	if err := v.wait(j); err != nil {
		return err
	}
	list := []labelled{}
	for _, c := range v.model.Largest(j.outputs[0].Values, q.top) {
		list = append(list, labelled{c.Class, c.Label, number(c.Score)})
	}
	return writeJSON(w, http.StatusOK, labels{v.name, v.number, list})
}

// detect answers an image with its objects.
func (s *Server) detect(w http.ResponseWriter, r *http.Request, v *version) error {
	if err := v.model.Detects(); err != nil {
		return v.unable(err)
	}
	q, err := readQuery(r, boxFields)
	if err != nil {
		return err
	}
	item, err := v.decode(q.file)
	if err != nil {
		return err
	}
	list := []found{}
	j := newJob(r.Context())
	j.items = 1
	j.alone = func(ctx context.Context, session *predict.Session) error {
		all, err := session.Detect(ctx, q.threshold, item)
		if err != nil {
			return err
		}
		for _, o := range all[0] {
			list = append(list, found{labelled{o.Class, o.Label, number(o.Score)}, o.XMin, o.YMin, o.XMax, o.YMax})
		}
		return nil
	}
	if err := v.wait(j); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, objects{v.name, v.number, item.Height, item.Width, list})
}

// writeJSON writes a value as the response.
func writeJSON(w http.ResponseWriter, status int, value any) error {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(value); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(b.Bytes())
	return nil
}
