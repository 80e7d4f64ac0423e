package onnx

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"google.golang.org/protobuf/proto"
)

// maxBytes is the largest size of a protobuf message, 2 GiB less a byte.
const maxBytes = math.MaxInt32

// Model is the message of a file.
type Model struct {
	*onnxpb.ModelProto
	Path string
}

// Read reads a model, and the initializers that it keeps in files beside it.
func Read(path string) (*Model, error) {
	data, err := readAll(path)
	if err != nil {
		return nil, err
	}
	m, err := Unmarshal(path, data)
	if err != nil {
		return nil, err
	}
	for _, t := range m.GetGraph().GetInitializer() {
		if err := load(path, t); err != nil {
			return nil, fmt.Errorf("%s: initializer %q: %w", path, t.GetName(), err)
		}
	}
	return m, nil
}

func readAll(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxBytes:
		return nil, fmt.Errorf("%s has more than %d bytes, more than an ONNX file may have; larger models keep their tensors in other files", path, maxBytes)
	}
	return data, nil
}

// errNoTensor is what a value of another type than a tensor is: onnx.proto of this package has no others.
var errNoTensor = errors.New("no tensor: sequences, maps and optional values are not translated")

// Unmarshal decodes a model and checks it. It reads no other files.
func Unmarshal(path string, data []byte) (*Model, error) {
	m := &onnxpb.ModelProto{}
	if err := proto.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s is no ONNX file, or it is damaged: %w", path, err)
	}
	if err := Check(m); errors.Is(err, errNoTensor) {
		return nil, fmt.Errorf("%s: %w", path, err)
	} else if err != nil {
		return nil, fmt.Errorf("%s is no ONNX file, or it is damaged: %w", path, err)
	}
	return &Model{m, path}, nil
}

// Marshal encodes a model. The error for one that is too large gives both sizes.
func Marshal(m *onnxpb.ModelProto) ([]byte, error) {
	if n := proto.Size(m); n > maxBytes {
		return nil, fmt.Errorf("the model has %d bytes, an ONNX file may have %d", n, maxBytes)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(m)
}

// load moves an external tensor's values into the message.
func load(path string, t *onnxpb.TensorProto) error {
	if t.GetDataLocation() != onnxpb.TensorProto_EXTERNAL {
		return nil
	}
	place, err := placeOf(t)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(filepath.Dir(path), place.file))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if place.length < 0 {
		place.length = info.Size() - place.offset
	}
	if place.length < 0 || place.offset > info.Size()-place.length {
		return fmt.Errorf("its values are bytes %d to %d of %s, which has %d", place.offset, place.offset+max(0, place.length), f.Name(), info.Size())
	}
	if place.length > 8*MaxCount {
		return fmt.Errorf("it has %d bytes, more than %d values can have", place.length, MaxCount)
	}
	t.RawData = make([]byte, place.length)
	if _, err := f.ReadAt(t.RawData, place.offset); err != nil && !(errors.Is(err, io.EOF) && place.length == 0) {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	t.DataLocation, t.ExternalData = nil, nil
	return nil
}

// place says where an external tensor's values are. Length -1 is the rest of the file.
type place struct {
	file           string
	offset, length int64
}

// placeOf reads external_data. The file must be below the model's folder, so that a model cannot read any other file of the user's.
func placeOf(t *onnxpb.TensorProto) (place, error) {
	p := place{length: -1}
	for _, e := range t.GetExternalData() {
		var number *int64
		switch e.GetKey() {
		case "location":
			p.file = e.GetValue()
		case "offset":
			number = &p.offset
		case "length":
			number = &p.length
		}
		if number == nil {
			continue
		}
		n, err := strconv.ParseInt(e.GetValue(), 10, 64)
		if err != nil || n < 0 {
			return p, fmt.Errorf("external_data: %s %q is no number", e.GetKey(), e.GetValue())
		}
		*number = n
	}
	if p.file == "" {
		return p, errors.New("external_data has no location")
	}
	if !filepath.IsLocal(filepath.FromSlash(p.file)) || strings.Contains(p.file, `\`) {
		return p, fmt.Errorf("its file %q is not below the model's folder", p.file)
	}
	return p, nil
}
