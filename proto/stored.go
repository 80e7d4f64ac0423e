package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Stored gives access to the values of blobs that are still in the file. Long lists of floats are not read with their message,
// but directly into their blob, so that weights are in memory only once. A nil Stored means that the messages hold all values.
type Stored struct {
	file  *os.File
	at    map[*caffepb.BlobProto]*blobSpans
	was   os.FileInfo  // when the positions were found
	users atomic.Int32 // beside the first one; see Keep
}

// span is a byte range of a file.
type span struct{ at, bytes int64 }

// blobSpans holds the positions of a blob's values and gradients in the file, and of its values of 8 bits. An empty span means that they are in the message.
type blobSpans struct{ data, diff, bytes span }

// The fields of BlobProto and of Int8Values that may be long.
const blobData, blobDiff, int8Data = 5, 6, 1

// longBytes is the size from which on a list stays in the file.
const longBytes = 4 << 10

// Counts returns the numbers of a blob's values and gradients, floats or doubles. Values of 8 bits, if there are any, are the blob's.
func (s *Stored) Counts(p *caffepb.BlobProto) (data, diff int) {
	own := s.spans(p)
	data, diff = max(len(p.Data), len(p.DoubleData), int(own.data.bytes/floatBytes)), max(len(p.Diff), len(p.DoubleDiff), int(own.diff.bytes/floatBytes))
	if p.Int8Data != nil {
		data = len(p.Int8Data.Data)
		if own.bytes.bytes > 0 {
			data = int(own.bytes.bytes)
		}
	}
	return data, diff
}

// Data writes a blob's values to dst. Its length must be the first result of Counts. After a read error, dst may hold some of the
// values. Several goroutines may call it.
func (s *Stored) Data(p *caffepb.BlobProto, dst []float32) error {
	if p.Int8Data != nil {
		if err := s.CheckScales(p); err != nil {
			return err
		}
		return s.int8Values(p, dst, 0)
	}
	return s.floats(dst, p.Data, p.DoubleData, s.spans(p).data)
}

// Part is Data for as many of a blob's values as dst holds, from number first on; it is for values that are Far.
func (s *Stored) Part(p *caffepb.BlobProto, dst []float32, first int) error {
	if p.Int8Data != nil {
		return s.int8Values(p, dst, first)
	}
	far := s.spans(p).data
	part := span{far.at + floatBytes*int64(first), floatBytes * int64(len(dst))}
	if first < 0 || part.at+part.bytes > far.at+far.bytes {
		return fmt.Errorf("values %d to %d are not in the %d bytes of a blob", first, first+len(dst), far.bytes)
	}
	return s.read(dst, part)
}

// Diff is Data for the gradients.
func (s *Stored) Diff(p *caffepb.BlobProto, dst []float32) error {
	return s.floats(dst, p.Diff, p.DoubleDiff, s.spans(p).diff)
}

// CheckScales returns an error if a blob has values of 8 bits that its scales do not divide.
func (s *Stored) CheckScales(p *caffepb.BlobProto) error {
	if p.Int8Data == nil {
		return nil
	}
	count, _ := s.Counts(p)
	if n := len(p.Int8Data.Scale); n == 0 || count%n != 0 {
		return fmt.Errorf("int8_data has %d scales for %d values", n, count)
	}
	return nil
}

// int8Values writes values of 8 bits from number first on, each times the scale of its part.
func (s *Stored) int8Values(p *caffepb.BlobProto, dst []float32, first int) error {
	var values []byte
	if far := s.spans(p).bytes; far.bytes > 0 {
		values = rawBytes(dst)[3*len(dst):] // a value is written when its byte, at its place or behind, has been read
		if err := s.readBytes(values, far.at+int64(first)); err != nil {
			return err
		}
	} else {
		values = p.Int8Data.Data[first:]
	}
	count, _ := s.Counts(p)
	part := count / len(p.Int8Data.Scale)
	for i := range dst {
		dst[i] = float32(int8(values[i])) * p.Int8Data.Scale[(first+i)/part]
	}
	return nil
}

// Far reports whether a blob's values are still in the file.
func (s *Stored) Far(p *caffepb.BlobProto) bool {
	own := s.spans(p)
	return own.data.bytes+own.bytes.bytes > 0
}

// Keep keeps the file open for one more user, who calls Close as well.
func (s *Stored) Keep() { s.users.Add(1) }

// Close ends a use of the file. The last one closes it.
func (s *Stored) Close() error {
	if s == nil || s.users.Add(-1) >= 0 {
		return nil
	}
	return s.file.Close()
}

func (s *Stored) spans(p *caffepb.BlobProto) blobSpans {
	if s == nil || s.at[p] == nil {
		return blobSpans{}
	}
	return *s.at[p]
}

func (s *Stored) floats(dst, floats []float32, doubles []float64, far span) error {
	switch {
	case far.bytes > 0:
		return s.read(dst, far)
	case len(doubles) > 0:
		for i, v := range doubles {
			dst[i] = float32(v)
		}
	default:
		copy(dst, floats)
	}
	return nil
}

// read reads a list directly into dst, so that its pages are written once.
func (s *Stored) read(dst []float32, far span) error {
	raw := rawBytes(dst)
	if err := s.readBytes(raw, far.at); err != nil {
		return err
	}
	if !littleEndian {
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[floatBytes*i:]))
		}
	}
	return nil
}

// rawBytes is the memory of values.
func rawBytes(values []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), floatBytes*len(values))
}

// readBytes reads bytes of the file.
func (s *Stored) readBytes(dst []byte, at int64) error {
	_, err := s.file.ReadAt(dst, at)
	if now, statErr := s.file.Stat(); statErr == nil && (now.Size() != s.was.Size() || !now.ModTime().Equal(s.was.ModTime())) {
		err = fmt.Errorf("written to after it was opened: it had %d bytes and has %d", s.was.Size(), now.Size())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.file.Name(), err)
	}
	return nil
}

// littleEndian reports whether this computer has numbers in memory as files have them.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Weights are the weights of a trained net, read from a file and upgraded to the current form. Its layers have a name, a type and blobs.
type Weights struct {
	Param    *caffepb.NetParameter
	Warnings []string
	// Unshared weights lack the weights that a layer shares with an earlier one, as in Caffe's HDF5 files. These are nil, or
	// missing at the end of the list.
	Unshared bool
	*Stored
}

// OpenWeights reads a .caffemodel and upgrades old forms. Call Close after reading the values. A file without layers may be a net that has none; it is
// an error if it has fields that are not a net's, since almost any small binary file parses as a net.
func OpenWeights(path string) (*Weights, error) {
	w := &Weights{Param: &caffepb.NetParameter{}}
	var err error
	if w.Stored, err = openBinary(path, w.Param); err != nil {
		return nil, notWeights(path, err)
	}
	if len(w.Param.Layer)+len(w.Param.Layers) == 0 && len(w.Param.ProtoReflect().GetUnknown()) > 0 {
		return nil, errors.Join(fmt.Errorf("%s: no weights: the file has no layers", path), w.Close())
	}
	if w.Warnings, err = upgradeWeights(w.Param, path); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// ReadBinaryNet reads a .caffemodel completely, with the parameters of its layers, and upgrades it as a net.
func ReadBinaryNet(path string) (p *caffepb.NetParameter, warnings []string, err error) {
	p = &caffepb.NetParameter{}
	if err := ReadBinary(path, p); err != nil {
		return nil, nil, notWeights(path, err)
	}
	warnings, err = UpgradeNet(p, path)
	return p, warnings, err
}

// notWeights replaces the error of a file that is no net by a better one if it is a solver state.
func notWeights(path string, err error) error {
	state := &caffepb.SolverState{}
	if ReadBinary(path, state) == nil && state.LearnedNet != nil {
		return fmt.Errorf("%s: a solver state, which has no weights: those are in %s", path, state.GetLearnedNet())
	}
	return err
}

// State is the content of a .solverstate.
type State struct {
	*caffepb.SolverState
	*Stored
}

// OpenState reads a .solverstate. Call Close after reading the histories.
func OpenState(path string) (*State, error) {
	s, p := &State{SolverState: &caffepb.SolverState{}}, &caffepb.NetParameter{}
	var err error
	if s.Stored, err = openBinary(path, s.SolverState); err != nil {
		if ReadBinary(path, p) == nil && len(p.Layer)+len(p.Layers) > 0 {
			return nil, fmt.Errorf("%s: weights, where a solver state is needed; -weights starts from them", path)
		}
		return nil, err
	}
	return s, nil
}
