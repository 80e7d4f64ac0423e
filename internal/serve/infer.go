package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/suggest"
	"github.com/swcaffe/swcaffe/predict"
)

// headerLength is the header with the length of the JSON before binary tensors, in requests and responses.
const headerLength = "Inference-Header-Content-Length"

// infer answers the protocol's call infer.
func (s *Server) infer(w http.ResponseWriter, r *http.Request, v *version) error {
	body, header, err := readInfer(r)
	if err != nil {
		return err
	}
	request, tensors, err := parseInfer(body, header)
	if err != nil {
		return err
	}
	wanted, err := v.wanted(request)
	if err != nil {
		return err
	}
	if len(tensors) == 1 && tensors[0].elements != nil {
		if tensors, err = v.decodeAll(tensors[0]); err != nil {
			return err
		}
	}
	for _, t := range tensors {
		if t.elements != nil {
			return badf("input %q: BYTES are images, for a net with one input", t.name)
		}
	}
	j := newJob(r.Context())
	if j.inputs, j.items, err = v.arrange(tensors); err != nil {
		return err
	}
	if err := v.wait(j); err != nil {
		return err
	}
	return v.answer(w, request, wanted, j.outputs)
}

// readInfer reads the body of a request, and the length of the JSON that it begins with.
func readInfer(r *http.Request) (body []byte, header int, err error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, 0, failf(http.StatusUnsupportedMediaType, "Content-Encoding %s: bodies must not be compressed", e)
	}
	if body, err = readBody(r); err != nil {
		return nil, 0, err
	}
	header = len(body)
	if text := r.Header.Get(headerLength); text != "" {
		if header, err = strconv.Atoi(text); err != nil || header < 0 || header > len(body) {
			return nil, 0, badf("%s: %s: it should be the length of the JSON in a body of %d bytes", headerLength, text, len(body))
		}
	}
	return body, header, nil
}

// readBody reads the body of a request, whose length the server has limited.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		if status := statusOf(err); status != http.StatusInternalServerError {
			return nil, err
		}
		return nil, badf("reading the body: %w", err)
	}
	return body, nil
}

// wait puts a job into the queue and waits for its end, or the end of the request.
func (v *version) wait(j *job) error {
	if err := v.submit(j); err != nil {
		return err
	}
	select {
	case <-j.done:
		return j.err
	case <-j.ctx.Done():
		return fmt.Errorf("model %q gave no answer in time: %w", v.name, context.Cause(j.ctx))
	}
}

// wanted returns the outputs that a request asks for; all of them if it names none.
func (v *version) wanted(r *inferRequest) ([]requestedOutput, error) {
	known := names(v.model.Outputs())
	list := r.Outputs
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
			return nil, badf("output %q: classification: %w", o.Name, v.model.Classifies())
		}
	}
	return list, nil
}

// answer writes the response of infer.
func (v *version) answer(w http.ResponseWriter, r *inferRequest, wanted []requestedOutput, outputs []predict.Array) error {
	response := inferResponse{ModelName: v.name, ModelVersion: v.number, ID: r.ID}
	var binary []byte
	anyBinary := false
	for _, o := range wanted {
		k := slices.IndexFunc(outputs, func(a predict.Array) bool { return a.Name == o.Name })
		if k < 0 {
			return fmt.Errorf("model %q: the net has no output %q", v.name, o.Name)
		}
		out, texts := responseOutput{o.Name, "FP32", outputs[k].Shape, nil, nil}, []string(nil)
		if n := o.Parameters.Classification; n > 0 {
			texts, out.Shape = v.label(outputs[k], n)
			out.Datatype = "BYTES"
		}
		asBinary := r.Parameters.BinaryDataOutput
		if o.Parameters.BinaryData != nil {
			asBinary = *o.Parameters.BinaryData
		}
		start := len(binary)
		switch {
		case asBinary && texts != nil:
			binary = appendElements(binary, texts)
		case asBinary:
			binary = appendFloats(binary, outputs[k].Values)
		case texts != nil:
			out.Data, _ = json.Marshal(texts) // texts always have JSON
		default:
			out.Data = numbers(outputs[k].Values)
		}
		if asBinary {
			anyBinary = true
			out.Parameters = map[string]int{"binary_data_size": len(binary) - start}
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

// label returns the n largest classes of each item as SCORE:CLASS:LABEL, as the classification extension writes them.
func (v *version) label(scores predict.Array, n int) (texts []string, shape []int) {
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
