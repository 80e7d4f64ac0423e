package solver

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/swcaffe/swcaffe/internal/base/words"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// digest returns the lower 24 bits of a checksum, which a float32 holds exactly.
func digest(sum uint32) float32 { return float32(sum & (1<<24 - 1)) }

// checksum returns the digest of the bits of values.
func checksum(values []float32) float32 {
	if len(values) == 0 {
		return 0
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*bytesPerValue)
	return digest(crc32.Checksum(bytes, castagnoli))
}

// compare gathers one row from every worker. It returns the first rank whose row differs from rank 0's, and the first different index.
func (t *Team) compare(row []float32) (rank, place int, differs bool, err error) {
	rows, err := t.table(row)
	if err != nil {
		return 0, 0, false, err
	}
	for rank, r := range rows {
		for i := range r {
			if r[i] != rows[0][i] {
				return rank, i, true, nil
			}
		}
	}
	return 0, 0, false, nil
}

// meet returns an error unless all workers have the same solver, net, weights and histories.
func (t *Team) meet(v *Solver) error {
	if err := t.compareNets(v); err != nil {
		return err
	}
	return t.compareWeights(v)
}

// compareNets returns an error, with the ranks and both values, unless all workers have the same solver and training net, and as much data.
// Paths of data may differ.
func (t *Team) compareNets(v *Solver) error {
	count := v.net.NumLayers()
	rank, place, differs, err := t.compare(append([]float32{float32(count)}, solverDigests(v.param)...))
	switch {
	case err != nil:
		return err
	case differs && place == 0:
		return t.differ(rank, "the nets differ", fmt.Sprintf("%d layers", count))
	case differs:
		f := solverFields()[place-1]
		return t.differ(rank, "the solvers differ", fmt.Sprintf("%s: %s", f.Name(), fieldText(v.param, f)))
	}
	row := make([]float32, count)
	for i := range row {
		row[i] = layerDigest(v.net.LayerParam(i))
	}
	rank, place, differs, err = t.compare(row)
	if differs {
		return t.differ(rank, fmt.Sprintf("layer %q (%s) differs", v.net.LayerName(place), v.net.LayerType(place)), layerText(v.net.LayerParam(place)))
	}
	if err != nil {
		return err
	}
	return t.compareData(v)
}

// compareData returns an error unless the sources of the workers' data layers have as many items each, as far as that is known.
func (t *Team) compareData(v *Solver) error {
	row := make([]float32, words.Len*v.net.NumLayers())
	items := make([]uint64, v.net.NumLayers())
	for i := range items {
		if source, ok := v.net.Layer(i).(layers.Finite); ok {
			var err error
			if items[i], err = source.Items(0); err != nil {
				items[i] = 0 // training will say why
			}
		}
		words.Put(row[words.Len*i:], items[i])
	}
	rank, place, differs, err := t.compare(row)
	if !differs {
		return err
	}
	i := place / words.Len
	return t.differ(rank, fmt.Sprintf("the data of layer %q (%s) differ", v.net.LayerName(i), v.net.LayerType(i)), fmt.Sprintf("%d items", items[i]))
}

// differ returns the error for a rank that differs from rank 0, with what both have: own is what this one has. Of texts of several lines, the first
// that differ are shown.
func (t *Team) differ(rank int, what, own string) error {
	first, err := t.tell(0, own)
	if err != nil {
		return err
	}
	other, err := t.tell(rank, own)
	if err != nil {
		return err
	}
	a, b := strings.Split(first, "\n"), strings.Split(other, "\n")
	for len(a) > 1 && len(b) > 1 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	return fmt.Errorf("%s: rank 0 has %s, rank %d has %s", what, cmp.Or(a[0], "nothing"), rank, cmp.Or(b[0], "nothing"))
}

// solverFields lists the fields of a solver that influence the weights. Reading the schema's descriptors takes memory, which only a team of
// several ranks needs.
var solverFields = sync.OnceValue(func() (list []protoreflect.FieldDescriptor) {
	others := []protoreflect.Name{
		"net", "train_net", "net_param", "train_net_param", "test_net", "test_net_param", "test_iter", "test_state", "test_interval",
		"snapshot_prefix", "random_seed", "weights", "display",
	}
	all := (*caffepb.SolverParameter)(nil).ProtoReflect().Descriptor().Fields()
	for i := range all.Len() {
		if f := all.Get(i); !slices.Contains(others, f.Name()) {
			list = append(list, f)
		}
	}
	return list
})

// solverDigests returns the digests of these fields.
func solverDigests(p *caffepb.SolverParameter) []float32 {
	fields := solverFields()
	row := make([]float32, len(fields))
	for i, f := range fields {
		if one := new(caffepb.SolverParameter); p.ProtoReflect().Has(f) {
			one.ProtoReflect().Set(f, p.ProtoReflect().Get(f))
			row[i] = messageDigest(one)
		}
	}
	return row
}

// fieldText returns a solver field as prototxt text, or its default.
func fieldText(p *caffepb.SolverParameter, f protoreflect.FieldDescriptor) string {
	value := p.ProtoReflect().Get(f)
	switch {
	case f.IsList():
		var words []string
		for i := range value.List().Len() {
			words = append(words, value.List().Get(i).String())
		}
		return fmt.Sprint(words)
	case f.Enum() != nil:
		return string(f.Enum().Values().ByNumber(value.Enum()).Name())
	case f.Kind() == protoreflect.StringKind:
		return strconv.Quote(value.String())
	}
	return value.String()
}

func messageDigest(m proto.Message) float32 {
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic("solver: " + err.Error())
	}
	return digest(crc32.Checksum(text, castagnoli))
}

// layerDigest returns the digest of a layer's prototxt, without the source of its data.
func layerDigest(p *caffepb.LayerParameter) float32 { return messageDigest(withoutSource(p)) }

// layerText returns a layer's prototxt, without the source of its data, with a field a line and one space between words.
func layerText(p *caffepb.LayerParameter) string {
	lines := strings.Split(prototext.MarshalOptions{Multiline: true}.Format(withoutSource(p)), "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

// withoutSource returns a copy of a layer's prototxt without the source of its data.
func withoutSource(p *caffepb.LayerParameter) *caffepb.LayerParameter {
	p = proto.CloneOf(p)
	for _, m := range []proto.Message{p.DataParam, p.ImageDataParam, p.WindowDataParam, p.Hdf5DataParam} {
		fields := m.ProtoReflect()
		for _, name := range []protoreflect.Name{"source", "root_folder"} {
			if f := fields.Descriptor().Fields().ByName(name); f != nil && fields.IsValid() {
				fields.Clear(f)
			}
		}
	}
	return p
}

// compareWeights returns an error unless all workers have the same weights, histories and iteration number, bit by bit.
func (t *Team) compareWeights(v *Solver) error {
	row := []float32{digest(uint32(v.iter))}
	for i, w := range v.update.weights {
		sum := checksum(w.weight.Blob.Data())
		for _, h := range w.histories {
			sum += checksum(h.Data())
		}
		row = append(row, digest(uint32(sum)+uint32(i)))
	}
	rank, place, differs, err := t.compare(row)
	if err != nil || !differs {
		return err
	}
	if place == 0 {
		return v.failed(fmt.Errorf("rank %d is at another iteration than rank 0", rank))
	}
	w := v.update.weights[place-1].weight
	return &unequal{v.failed(fmt.Errorf("the weights or histories of rank %d differ from rank 0's: layer %q, param %d", rank, w.Layer, w.Index))}
}

// unequal says that workers whose weights must be equal differ, so that no worker's can be trusted.
type unequal struct{ error }

func (e *unequal) Unwrap() error { return e.error }

func isUnequal(err error) bool {
	differ := (*unequal)(nil)
	return errors.As(err, &differ)
}

// compareCentre returns an error unless all workers have the same copy of the centre.
func (t *Team) compareCentre(v *Solver, state []float32) error {
	var row []float32
	for _, w := range v.group.pack.weights {
		row = append(row, checksum(state[w.lo:w.hi]))
	}
	rank, place, differs, err := t.compare(row)
	if differs {
		w := v.group.pack.weights[place]
		return &unequal{v.failed(fmt.Errorf("the centre of rank %d differs from rank 0's: layer %q, param %d", rank, w.Layer, w.Index))}
	}
	return err
}
