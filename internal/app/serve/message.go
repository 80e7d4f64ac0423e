package serve

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
)

// The messages of infer, with the protocol's names.
type (
	inferRequest struct {
		ID         string            `json:"id"`
		Parameters parameters        `json:"parameters"`
		Inputs     []requestInput    `json:"inputs"`
		Outputs    []requestedOutput `json:"outputs"`
	}
	requestInput struct {
		Name       string          `json:"name"`
		Shape      []int64         `json:"shape"`
		Datatype   string          `json:"datatype"`
		Parameters parameters      `json:"parameters"`
		Data       json.RawMessage `json:"data"`
	}
	requestedOutput struct {
		Name       string     `json:"name"`
		Parameters parameters `json:"parameters"`
	}
	parameters struct {
		BinaryDataSize   *int64 `json:"binary_data_size"`
		BinaryData       *bool  `json:"binary_data"`
		BinaryDataOutput bool   `json:"binary_data_output"`
		Classification   int    `json:"classification"`

		SharedMemory *string `json:"shared_memory_region"`
	}
	inferResponse struct {
		ModelName    string           `json:"model_name"`
		ModelVersion string           `json:"model_version"`
		ID           string           `json:"id,omitempty"`
		Outputs      []responseOutput `json:"outputs"`
	}
	responseOutput struct {
		Name       string          `json:"name"`
		Datatype   string          `json:"datatype"`
		Shape      []int           `json:"shape"`
		Parameters map[string]int  `json:"parameters,omitempty"`
		Data       json.RawMessage `json:"data,omitempty"`
	}
)

// errSharedMemory refuses what Triton's clients may ask for where the server runs on their computer.
var errSharedMemory = badf("shared memory is not taken; the values are in the request")

// tensor is an input of a request: values, or the elements of a BYTES tensor.
type tensor struct {
	name     string
	shape    []int
	values   []float32
	elements [][]byte
}

// parseInfer reads a request: JSON of header bytes, and behind it the values of the inputs that have a binary_data_size, in their order.
func parseInfer(body []byte, header int) (*inferRequest, []tensor, error) {
	var r inferRequest
	end, err := decodeJSON(body[:header], &r)
	if err != nil {
		return nil, nil, err
	}
	if end < header {
		return nil, nil, badf("the request's JSON ends at byte %d, but its length is %d; binary tensors need the header %s", end, header, headerLength)
	}
	if len(r.Inputs) == 0 {
		return nil, nil, badf("the request has no inputs")
	}
	binary := body[header:]
	var list []tensor
	for i := range r.Inputs {
		in := &r.Inputs[i]
		t, rest, err := in.read(binary)
		if err != nil {
			return nil, nil, badf("input %q: %w", in.Name, err)
		}
		list, binary = append(list, t), rest
	}
	if len(binary) > 0 {
		return nil, nil, badf("%d bytes behind the JSON belong to no input", len(binary))
	}
	return &r, list, nil
}

// decodeJSON reads the JSON at the beginning of a text, and returns where it ends: behind white space that follows it.
func decodeJSON(text []byte, into any) (end int, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(into); err != nil {
		return 0, badf("the request's JSON: %w", err)
	}
	end = int(d.InputOffset())
	return end + len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t\r\n")), nil
}

// read makes a tensor of an input. binary holds the values of this and the following binary inputs; those of the following are returned.
func (in *requestInput) read(binary []byte) (t tensor, rest []byte, err error) {
	d, err := findDatatype(in.Datatype)
	if err != nil {
		return t, nil, err
	}
	t.name = in.Name
	if in.Shape == nil {
		return t, nil, badf("it has no shape")
	}
	count, err := t.setShape(in.Shape)
	if err != nil {
		return t, nil, err
	}
	size := in.Parameters.BinaryDataSize
	switch {
	case in.Parameters.SharedMemory != nil:
		return t, nil, errSharedMemory
	case size == nil && d.size == 0:
		t.elements, err = parseTexts(in.Data, count)
		return t, binary, err
	case size == nil:
		t.values, err = d.parseData(in.Data, t.shape, count)
		return t, binary, err
	case in.Data != nil:
		return t, nil, badf("it has both data and a binary_data_size")
	case *size < 0 || *size > int64(len(binary)):
		return t, nil, badf("binary_data_size is %d, %d bytes remain in the body", *size, len(binary))
	}
	err = t.readRaw(d, binary[:*size], count)
	return t, binary[*size:], err
}

// readRaw reads the values or elements of a tensor from its bytes.
func (t *tensor) readRaw(d *datatype, b []byte, count int) (err error) {
	if d.size == 0 {
		t.elements, err = readElements(b, count)
	} else {
		t.values, err = d.readBinary(b, count)
	}
	return err
}

// setShape checks a shape and returns its number of values.
func (t *tensor) setShape(shape []int64) (count int, err error) {
	count = 1
	t.shape = []int{}
	for _, n := range shape {
		if n < 0 || n > math.MaxInt32 || n > 0 && count > math.MaxInt32/int(n) {
			return 0, badf("shape %v: extents cannot be negative, and all together at most %d values", shape, math.MaxInt32)
		}
		count *= int(n)
		t.shape = append(t.shape, int(n))
	}
	return count, nil
}

// parseTexts reads the elements of a BYTES tensor from JSON: texts, of which those of images are base64.
func parseTexts(data json.RawMessage, count int) (list [][]byte, err error) {
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, badf("the data of BYTES is a list of texts: %w", err)
	}
	if len(texts) != count {
		return nil, badf("%d elements are given, its shape needs %d", len(texts), count)
	}
	for _, s := range texts {
		if b, err := base64.StdEncoding.DecodeString(s); err == nil {
			list = append(list, b)
		} else {
			list = append(list, []byte(s))
		}
	}
	return list, nil
}

// numbers writes values as a list of JSON, with as many digits as tell float32s apart. JSON has no NaN and no infinities: they are null.
func numbers(values []float32) json.RawMessage {
	b := append(make([]byte, 0, 12*len(values)+2), '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, f, 'g', -1, 32)
		}
	}
	return append(b, ']')
}
