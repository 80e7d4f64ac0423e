package tensors

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// An npz file is a zip archive of files NAME.npy, each an array: a magic number, a version, the length of a header, the header, values. The header is a
// literal of Python: a dictionary of descr (the type), fortran_order and shape. See numpy's numpy/lib/format.py.
const magic = "\x93NUMPY"

var numpyTypes = map[string]number{"f2": short, "f4": single, "f8": double}

func readNPZ(f *os.File, size int64) ([]Tensor, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, err
	}
	var list []Tensor
	seen := map[string]bool{}
	for _, file := range z.File {
		name, ok := strings.CutSuffix(file.Name, ".npy")
		if !ok {
			return nil, fmt.Errorf("%q is no array of numpy: its name has no .npy", file.Name)
		}
		if seen[name] {
			return nil, fmt.Errorf("it has %q twice", file.Name)
		}
		seen[name] = true
		t, err := readNPY(file)
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", name, err)
		}
		t.Name = name
		list = append(list, t)
	}
	return list, nil
}

func readNPY(file *zip.File) (t Tensor, err error) {
	compressed, err := file.Open()
	if err != nil {
		return t, err
	}
	defer compressed.Close()
	r := bufio.NewReader(compressed)
	text, err := npyHeader(r)
	if err != nil {
		return t, err
	}
	h, err := parseNPYHeader(text)
	if err != nil {
		return t, err
	}
	t.Shape, t.Type = h.shape, h.descr
	count, err := checkShape(h.shape)
	if err != nil {
		return t, err
	}
	kind, ok := numpyTypes[strings.TrimLeft(h.descr, "<>=|")]
	if !ok {
		return t, nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if h.descr[0] == '>' {
		order = binary.BigEndian
	}
	if t.Values, err = kind.readValues(r, order, count); err != nil {
		return t, err
	}
	if _, err := r.ReadByte(); err != io.EOF { // at the end, archive/zip compares the checksum
		if err == nil {
			err = errors.New("bytes follow its values")
		}
		return t, err
	}
	if h.fortran {
		t.Values = fromFortran(t.Values, t.Shape)
	}
	return t, nil
}

// npyHeader reads up to the values and returns the header's text.
func npyHeader(r io.Reader) (string, error) {
	head := make([]byte, len(magic)+2)
	if _, err := io.ReadFull(r, head); err != nil || string(head[:len(magic)]) != magic {
		return "", errors.New("it is no array of numpy: it does not begin with its magic number")
	}
	length := make([]byte, 2)
	switch version := head[len(magic)]; version {
	case 1:
	case 2, 3:
		length = make([]byte, 4)
	default:
		return "", fmt.Errorf("version %d of numpy's format is unknown", version)
	}
	if _, err := io.ReadFull(r, length); err != nil {
		return "", errors.New("its header ends early")
	}
	n := uint64(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		n = uint64(binary.LittleEndian.Uint32(length))
	}
	if n > 1<<20 {
		return "", fmt.Errorf("a header of %d bytes is too long", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", errors.New("its header ends early")
	}
	return string(text), nil
}

type npyFields struct {
	descr   string
	fortran bool
	shape   []int
}

var (
	descrField   = regexp.MustCompile(`['"]descr['"]\s*:\s*(?:['"]([^'"]+)['"]|(\[))`)
	fortranField = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	shapeField   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([^)]*)\)`)
)

func parseNPYHeader(text string) (h npyFields, err error) {
	descr, fortran, shape := descrField.FindStringSubmatch(text), fortranField.FindStringSubmatch(text), shapeField.FindStringSubmatch(text)
	if descr == nil || fortran == nil || shape == nil {
		return h, fmt.Errorf("its header %q lacks descr, fortran_order or shape", strings.TrimSpace(text))
	}
	h.descr, h.fortran = descr[1]+descr[2], fortran[1] == "True"
	for part := range strings.SplitSeq(shape[1], ",") {
		if part = strings.TrimSuffix(strings.TrimSpace(part), "L"); part == "" { // Python 2 wrote (3L, 4L)
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return h, fmt.Errorf("its shape (%s) is no list of numbers", shape[1])
		}
		h.shape = append(h.shape, n)
	}
	return h, nil
}

// fromFortran returns values in C's order. The first axis of values is the fastest.
func fromFortran(values []float32, shape []int) []float32 {
	out := make([]float32, len(values))
	index := make([]int, len(shape))
	for _, v := range values {
		at := 0
		for k, d := range shape {
			at = at*d + index[k]
		}
		out[at] = v
		for k := range index {
			if index[k]++; index[k] < shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return out
}

func writeNPZ(w io.Writer, list []Tensor) error {
	z := zip.NewWriter(w)
	for _, t := range list {
		file, err := z.CreateHeader(&zip.FileHeader{Name: t.Name + ".npy", Method: zip.Store})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(file, npyHead(t.Shape)); err != nil {
			return err
		}
		if err := writeValues(file, t.Values); err != nil {
			return err
		}
	}
	return z.Close()
}

// npyHead returns what stands before the values, whose place is a multiple of 64.
func npyHead(shape []int) string {
	var extents strings.Builder
	for i, d := range shape {
		if i > 0 {
			extents.WriteString(" ")
		}
		fmt.Fprintf(&extents, "%d,", d)
	}
	tuple := extents.String()
	if len(shape) > 1 {
		tuple = strings.TrimSuffix(tuple, ",")
	}
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", tuple)
	before := len(magic) + 4
	text += strings.Repeat(" ", 63-(before+len(text))%64) + "\n"
	return magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(text)))) + text
}
