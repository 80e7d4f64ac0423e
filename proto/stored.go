package proto

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Stored has the values of blobs whose messages were read without them: long lists of floats stay in the file until there is a place for
// them, so that weights are in memory once. A nil Stored is for messages that have all of their values.
type Stored struct {
	file *os.File
	at   map[*caffepb.BlobProto]*blobSpans
}

// span is a stretch of a file.
type span struct{ at, bytes int64 }

// blobSpans says where a blob's values and gradients stand; those of no bytes are in the message.
type blobSpans struct{ data, diff span }

// The fields of BlobProto that may be long.
const blobData, blobDiff = 5, 6

// longBytes is from which size on a list stays in the file.
const longBytes = 4 << 10

// Counts returns how many values and gradients are stored of a blob, floats or doubles.
func (s *Stored) Counts(p *caffepb.BlobProto) (data, diff int) {
	own := s.spans(p)
	return max(len(p.Data), len(p.DoubleData), int(own.data.bytes/floatBytes)), max(len(p.Diff), len(p.DoubleDiff), int(own.diff.bytes/floatBytes))
}

// Data writes a blob's values to dst, as many as Counts says. A file that cannot be read leaves dst with some of them.
func (s *Stored) Data(p *caffepb.BlobProto, dst []float32) error {
	return s.floats(dst, p.Data, p.DoubleData, s.spans(p).data)
}

// Diff is Data for the gradients.
func (s *Stored) Diff(p *caffepb.BlobProto, dst []float32) error {
	return s.floats(dst, p.Diff, p.DoubleDiff, s.spans(p).diff)
}

// Close closes the file.
func (s *Stored) Close() error {
	if s == nil {
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

func (s *Stored) read(dst []float32, far span) error {
	r, piece := io.NewSectionReader(s.file, far.at, far.bytes), make([]byte, min(far.bytes, 256<<10))
	for len(dst) > 0 {
		n := min(len(dst), len(piece)/floatBytes)
		if _, err := io.ReadFull(r, piece[:floatBytes*n]); err != nil {
			return fmt.Errorf("%s: %w", s.file.Name(), err)
		}
		for i := range dst[:n] {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(piece[floatBytes*i:]))
		}
		dst = dst[n:]
	}
	return nil
}

// Weights are those of a trained net as read from a file, upgraded to the current form.
type Weights struct {
	Param    *caffepb.NetParameter
	Warnings []string
	// Unshared weights lack those that layers share with earlier ones, as Caffe's HDF5 files do: these are nil, or missing at the end.
	Unshared bool
	*Stored
}

// OpenWeights reads a .caffemodel and upgrades old forms. Close it when the values have been read.
func OpenWeights(path string) (*Weights, error) { return readWeights(path, openBinary) }

// ReadWeights is OpenWeights with all values in the messages.
func ReadWeights(path string) (*Weights, error) {
	return readWeights(path, func(path string, m proto.Message) (*Stored, error) { return nil, ReadBinary(path, m) })
}

func readWeights(path string, read func(path string, m proto.Message) (*Stored, error)) (*Weights, error) {
	w, state := &Weights{Param: &caffepb.NetParameter{}}, &caffepb.SolverState{}
	var err error
	if w.Stored, err = read(path, w.Param); err != nil {
		if ReadBinary(path, state) == nil && state.LearnedNet != nil {
			return nil, fmt.Errorf("%s: a solver state, which has no weights: those are in %s", path, state.GetLearnedNet())
		}
		return nil, err
	}
	if w.Warnings, err = UpgradeNet(w.Param, path); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// State is a .solverstate.
type State struct {
	*caffepb.SolverState
	*Stored
}

// OpenState reads a .solverstate. Close it when the histories have been read.
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
