package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/predict"
)

// headerLength is the header with the length of the JSON before binary tensors, in requests and responses.
const headerLength = "Inference-Header-Content-Length"

// infer answers the protocol's call infer over REST.
func (s *Server) infer(w http.ResponseWriter, r *http.Request, v *version) error {
	memory, content, header, err := readInfer(r)
	defer memory.release()
	if err != nil {
		return err
	}
	request, tensors, err := parseInfer(content, header)
	if err != nil {
		return err
	}
	outputs, err := v.compute(r.Context(), memory, tensors, request.Outputs)
	if err != nil {
		return err
	}
	return v.answer(w, request, outputs)
}

// output is an output of a request: values, or the texts of its classes.
type output struct {
	name   string
	shape  []int
	values []float32
	texts  []string
}

func (o *output) datatype() string {
	if o.texts != nil {
		return "BYTES"
	}
	return "FP32"
}

// compute runs the net on the tensors of a request and returns the outputs that it asks for, of either protocol. memory, which may be nil, is what the tensors are in.
func (v *version) compute(ctx context.Context, memory *body, tensors []tensor, asked []requestedOutput) ([]output, error) {
	wanted, err := v.wanted(asked)
	if err != nil {
		return nil, err
	}
	if v.queue.full() {
		return nil, errFull // before images are decoded
	}
	if len(tensors) == 1 && tensors[0].elements != nil {
		if tensors, err = v.decodeAll(tensors[0]); err != nil {
			return nil, err
		}
	}
	for _, t := range tensors {
		if t.elements != nil {
			return nil, badf("input %q: BYTES are images, for a net with one input", t.name)
		}
	}
	j := newJob(ctx)
	j.memory = memory
	if j.inputs, j.items, err = v.arrange(tensors); err != nil {
		return nil, err
	}
	if err := v.wait(j); err != nil {
		return nil, err
	}
	var list []output
	for _, o := range wanted {
		k := slices.IndexFunc(j.outputs, func(a predict.Array) bool { return a.Name == o.Name })
		if k < 0 {
			return nil, fmt.Errorf("model %q: the net has no output %q", v.name, o.Name)
		}
		out := output{o.Name, j.outputs[k].Shape, j.outputs[k].Values, nil}
		if n := o.Parameters.Classification; n > 0 {
			out.texts, out.shape = v.label(j.outputs[k], n)
		}
		list = append(list, out)
	}
	return list, nil
}

// wait puts a job into the queue and waits for its end, or the end of the request.
func (v *version) wait(j *job) error {
	if err := v.submit(j); err != nil {
		return err
	}
	select {
	case <-j.done:
		visitOf(j.ctx).ran(j)
		return j.err
	case <-j.ctx.Done():
		if v.queue.remove(j) {
			v.gone(j)
		}
		visitOf(j.ctx).left(j)
		return fmt.Errorf("model %q gave no answer in time: %w", v.name, context.Cause(j.ctx))
	}
}

// wanted returns the outputs that a request asks for; all of them if it names none.
func (v *version) wanted(list []requestedOutput) ([]requestedOutput, error) {
	known := names(v.model.Outputs())
	if len(list) == 0 {
		for _, name := range known {
			list = append(list, requestedOutput{Name: name})
		}
	}
	for i, o := range list {
		switch {
		case !slices.Contains(known, o.Name):
			return nil, &failure{http.StatusBadRequest, suggest.Unknown("output", o.Name, "outputs", known)}
		case slices.ContainsFunc(list[:i], func(other requestedOutput) bool { return other.Name == o.Name }):
			return nil, badf("output %q is asked for twice", o.Name)
		case o.Parameters.Classification < 0:
			return nil, badf("output %q: classification %d: at least one class is needed", o.Name, o.Parameters.Classification)
		case o.Parameters.Classification > 0 && v.model.Classifies() != nil:
			return nil, badf("output %q: classification: %w", o.Name, v.unable(v.model.Classifies()))
		}
	}
	return list, nil
}

// answer writes the response of infer over REST.
func (v *version) answer(w http.ResponseWriter, r *inferRequest, outputs []output) error {
	response := inferResponse{ModelName: v.name, ModelVersion: v.number, ID: r.ID, Outputs: []responseOutput{}}
	var binary []byte
	anyBinary := false
	for i, o := range outputs {
		out := responseOutput{o.name, o.datatype(), o.shape, nil, nil}
		start := len(binary)
		switch {
		case r.isBinary(i):
			binary = o.appendBinary(binary)
			anyBinary = true
			out.Parameters = map[string]int{"binary_data_size": len(binary) - start}
		case o.texts != nil:
			out.Data, _ = json.Marshal(o.texts) // texts always have JSON
		default:
			out.Data = numbers(o.values)
		}
		response.Outputs = append(response.Outputs, out)
	}
	text, err := json.Marshal(response)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if anyBinary {
		h.Set("Content-Type", "application/octet-stream")
		h.Set(headerLength, strconv.Itoa(len(text)))
	}
	h.Set("Content-Length", strconv.Itoa(len(text)+len(binary)))
	w.Write(text)
	w.Write(binary)
	return nil
}

// isBinary reports whether a request wants output i of the response in binary.
func (r *inferRequest) isBinary(i int) bool {
	if i < len(r.Outputs) && r.Outputs[i].Parameters.BinaryData != nil {
		return *r.Outputs[i].Parameters.BinaryData
	}
	return r.Parameters.BinaryDataOutput
}

// appendBinary appends an output's values as the protocol has them in binary.
func (o *output) appendBinary(b []byte) []byte {
	if o.texts != nil {
		return appendElements(b, o.texts)
	}
	return appendFloats(b, o.values)
}

// binary returns an output's values as the protocol has them in binary, in the same memory if they lie so.
func (o *output) binary() []byte {
	if b := bytesOf(o.values); b != nil && o.texts == nil {
		return b
	}
	return o.appendBinary(nil)
}

// label returns the n largest classes of each item as SCORE:CLASS:LABEL, as the classification extension writes them.
func (v *version) label(scores predict.Array, n int) (texts []string, shape []int) {
	texts = []string{}
	items := scores.Shape[0]
	size := len(scores.Values) / items
	n = min(n, size)
	for i := range items {
		for _, c := range v.model.Largest(scores.Values[i*size:][:size], n) {
			texts = append(texts, fmt.Sprintf("%s:%d:%s", strconv.FormatFloat(float64(c.Score), 'f', 6, 32), c.Class, c.Label))
		}
	}
	return texts, []int{items, n}
}
