package solver

import (
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
	swnet "github.com/swcaffe/swcaffe/net"
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

// compareNets returns an error, with the ranks and both values, unless all workers have the same solver and nets, and as much data. Of the test nets and of
// when they run only workers that test together need the same. Paths of data may differ.
func (t *Team) compareNets(v *Solver) error {
	nets, fields := v.nets(), solverFields()
	if v.testers() == nil {
		nets = nets[:1]
	} else {
		fields = append(slices.Clone(fields), testFields()...)
	}
	count := v.net.NumLayers()
	rank, place, differs, err := t.compare(append([]float32{float32(count)}, solverDigests(v.param, fields)...))
	switch {
	case err != nil:
		return err
	case differs && place == 0:
		return t.differ(rank, "the nets differ", fmt.Sprintf("%d layers", count))
	case differs:
		f := fields[place-1]
		return t.differ(rank, "the solvers differ", fmt.Sprintf("%s: %s", f.Name(), fieldText(v.param, f)))
	}
	if err := t.compareLayers(v.net, ""); err != nil {
		return err
	}
	for i, n := range nets[1:] { // as many on all, since test_iter is the same
		of := fmt.Sprintf("test net #%d: ", i)
		rank, _, differs, err := t.compare([]float32{float32(n.NumLayers())})
		if differs {
			return t.differ(rank, of+"the nets differ", fmt.Sprintf("%d layers", n.NumLayers()))
		}
		if err != nil {
			return err
		}
		if err := t.compareLayers(n.Net, of); err != nil {
			return err
		}
	}
	return nil
}

// compareLayers returns an error unless all workers have the same layers in a net, of which all have as many, and as much data. of begins the error.
func (t *Team) compareLayers(n *swnet.Net, of string) error {
	row := make([]float32, n.NumLayers())
	for i := range row {
		row[i] = layerDigest(n.LayerParam(i))
	}
	rank, place, differs, err := t.compare(row)
	if differs {
		return t.differ(rank, fmt.Sprintf("%slayer %q (%s) differs", of, n.LayerName(place), n.LayerType(place)), layerText(n.LayerParam(place)))
	}
	if err != nil {
		return err
	}
	return t.compareData(n, of)
}

// compareData returns an error unless the sources of the workers' data layers have as many items each, as far as that is known.
func (t *Team) compareData(n *swnet.Net, of string) error {
	row := make([]float32, words.Len*n.NumLayers())
	items := make([]uint64, n.NumLayers())
	for i := range items {
		items[i] = itemsOf(n.Layer(i))
		words.Put(row[words.Len*i:], items[i])
	}
	rank, place, differs, err := t.compare(row)
	if !differs {
		return err
	}
	i := place / words.Len
	return t.differ(rank, fmt.Sprintf("%sthe data of layer %q (%s) differ", of, n.LayerName(i), n.LayerType(i)), fmt.Sprintf("%d items", items[i]))
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
	first, other = firstDifferent(strings.Split(first, "\n"), strings.Split(other, "\n"))
	return fmt.Errorf("%s: rank 0 has %s, rank %d has %s", what, first, rank, other)
}

// itemsOf returns the number of items of a layer's source; 0: it has none, or the number is not known.
func itemsOf(l layers.Layer) uint64 {
	source, ok := l.(layers.Finite)
	if !ok {
		return 0
	}
	items, err := source.Items(0)
	if err != nil {
		return 0 // running the net will say why
	}
	return items
}

// solverFields lists the fields of a solver that influence the weights. Reading the schema's descriptors takes memory, which only a team of
// several ranks needs.
var solverFields = sync.OnceValue(func() (list []protoreflect.FieldDescriptor) {
	others := []protoreflect.Name{
		"net", "train_net", "net_param", "train_net_param", "test_net", "test_net_param", "test_state", "snapshot_prefix", "random_seed", "weights", "display",
	}
	all := (*caffepb.SolverParameter)(nil).ProtoReflect().Descriptor().Fields()
	for i := range all.Len() {
		if f := all.Get(i); !slices.Contains(others, f.Name()) && !slices.Contains(testFields(), f) {
			list = append(list, f)
		}
	}
	return list
})

// testFields lists the fields that say when tests run, and how many of their batches.
var testFields = sync.OnceValue(func() (list []protoreflect.FieldDescriptor) {
	all := (*caffepb.SolverParameter)(nil).ProtoReflect().Descriptor().Fields()
	for _, name := range []protoreflect.Name{"test_interval", "test_iter"} {
		list = append(list, all.ByName(name))
	}
	return list
})

// solverDigests returns the digests of fields.
func solverDigests(p *caffepb.SolverParameter, fields []protoreflect.FieldDescriptor) []float32 {
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
	case f.Message() != nil && !value.Message().IsValid():
		return "{ }"
	case f.Message() != nil:
		return "{ " + strings.Join(strings.Fields(prototext.MarshalOptions{}.Format(value.Message().Interface())), " ") + " }"
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
