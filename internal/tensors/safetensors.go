package tensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
)

// A safetensors file is the length of a header (8 bytes, little-endian), the header, and values without gaps. The header is a JSON object of entries
// by the tensors' names; the name __metadata__ has texts. See github.com/huggingface/safetensors.
type entry struct {
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"` // of the first byte and past the last one, behind the header
	name    string
}

const (
	metadata   = "__metadata__"
	mostHeader = 100_000_000 // bytes, the bound of the format
	mostCount  = math.MaxInt32
)

var safetensorsTypes = map[string]number{"F16": short, "BF16": brain, "F32": single, "F64": double}

func readSafetensors(f *os.File, size int64) ([]Tensor, error) {
	var length [8]byte
	if _, err := f.ReadAt(length[:], 0); err != nil {
		return nil, errors.New("it is neither safetensors nor npz: it is too short")
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > mostHeader || int64(n) > size-8 {
		return nil, fmt.Errorf("it is neither safetensors nor npz: a header of %d bytes, but the file has %d", n, size)
	}
	header := make([]byte, n)
	if _, err := f.ReadAt(header, 8); err != nil {
		return nil, err
	}
	entries, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	body := io.NewSectionReader(f, 8+int64(n), size-8-int64(n))
	var list []Tensor
	at := int64(0)
	for _, e := range entries {
		count, err := checkShape(e.Shape)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", e.name, err)
		}
		if len(e.Offsets) != 2 || e.Offsets[0] != at || e.Offsets[1] < at || e.Offsets[1] > body.Size() {
			return nil, fmt.Errorf("tensor %q has bytes %v, but %d is next and the file has %d", e.name, e.Offsets, at, body.Size())
		}
		t := Tensor{Name: e.name, Shape: e.Shape, Type: e.DType}
		if kind, ok := safetensorsTypes[e.DType]; ok {
			if want := int64(count) * int64(kind.bytes); e.Offsets[1]-at != want {
				return nil, fmt.Errorf("tensor %q of shape %v has %d bytes, not %d", e.name, e.Shape, e.Offsets[1]-at, want)
			}
			if t.Values, err = kind.readValues(io.NewSectionReader(body, at, e.Offsets[1]-at), binary.LittleEndian, count); err != nil {
				return nil, fmt.Errorf("tensor %q: %w", e.name, err)
			}
		}
		list, at = append(list, t), e.Offsets[1]
	}
	if at != body.Size() {
		return nil, fmt.Errorf("%d bytes behind the last tensor belong to none", body.Size()-at)
	}
	return list, nil
}

// parseHeader returns the entries in the order of their values.
func parseHeader(header []byte) ([]entry, error) {
	d := json.NewDecoder(bytes.NewReader(header))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the header is no JSON object: the file is no safetensors file, or damaged")
	}
	var entries []entry
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, fmt.Errorf("the header is no JSON: %v", err)
		}
		if seen[name] {
			return nil, fmt.Errorf("the header has %q twice", name)
		}
		seen[name] = true
		e := entry{name: name}
		var to any = &e
		if name == metadata {
			to = &map[string]string{}
		}
		if err := d.Decode(to); err != nil {
			return nil, fmt.Errorf("the header's %q: %w", name, err)
		}
		if name != metadata {
			entries = append(entries, e)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("the header is no JSON: %w", err)
	}
	start := func(e entry) int64 {
		if len(e.Offsets) != 2 {
			return 0 // the reader refuses it
		}
		return e.Offsets[0]
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		if start(a) != start(b) {
			return int(min(max(start(a)-start(b), -1), 1))
		}
		if len(a.Offsets) != 2 || len(b.Offsets) != 2 { // empty tensors first
			return 0
		}
		return int(min(max(a.Offsets[1]-b.Offsets[1], -1), 1))
	})
	return entries, nil
}

// checkShape returns the number of values of a shape from a file.
func checkShape(shape []int) (int, error) {
	count := 1
	for _, d := range shape {
		if d < 0 || (d > 0 && count > mostCount/d) {
			return 0, fmt.Errorf("shape %v: an extent is negative, or the product of all is more than %d", shape, mostCount)
		}
		count *= d
	}
	return count, nil
}

func writeSafetensors(w io.Writer, list []Tensor) error {
	var header strings.Builder
	header.WriteString(`{"` + metadata + `":{"format":"pt"}`) // transformers demands the format
	at := int64(0)
	for _, t := range list {
		name, err := json.Marshal(t.Name)
		if err != nil {
			return err
		}
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		entry, err := json.Marshal(entry{DType: "F32", Shape: shape, Offsets: []int64{at, at + 4*int64(len(t.Values))}})
		if err != nil {
			return err
		}
		fmt.Fprintf(&header, ",%s:%s", name, entry)
		at += 4 * int64(len(t.Values))
	}
	header.WriteString("}")
	for header.Len()%8 != 0 { // so that values are aligned
		header.WriteByte(' ')
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(header.Len())); err != nil {
		return err
	}
	if _, err := io.WriteString(w, header.String()); err != nil {
		return err
	}
	for _, t := range list {
		if err := writeValues(w, t.Values); err != nil {
			return err
		}
	}
	return nil
}
