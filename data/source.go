package data

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Record is one raw item of a Source.
type Record struct {
	Name  string // database or image file, for messages
	Key   []byte // key in the database, for messages
	Raw   []byte // serialised Datum or file content; the next read into the record reuses it; a Prefetcher's batches have none
	Label int    // set by sources that keep labels beside the data
	// LabelName is the file of the pixels' labels, set by OpenImagePairs.
	LabelName string
	List      string // text file that lists the record, for messages; "": none does
	Line      int    // of List, from 1 on
	Window    Window // set by a WindowList: the part of the image to use
	Item      uint64 // position in the stream, set by the Prefetcher
	Repaired  string // set by Decoders: damage of the image's file that was passed over; "": none

	Labels  []float32           // set by a PairDecoder: the labels of the transformed image's pixels
	Size    [2]int              // set by a PairDecoder: the image's height and width
	Objects []annotation.Object // set by an AnnotatedDecoder: the objects in the transformed image
}

// Source is an endless stream of records: the first record follows the last. One goroutine uses it.
type Source interface {
	// Next reads the following record into r, reusing its buffer.
	Next(r *Record) error
	// Seek makes record number item, counted from the start of the stream, the next one.
	Seek(item uint64) error
	Close() error
}

// IncompleteMark is the name of a file in the folder of a database whose writing has failed.
const IncompleteMark = "INCOMPLETE"

// checkComplete returns an error if a database is marked as incomplete.
func checkComplete(path string) error {
	mark := filepath.Join(path, IncompleteMark)
	text, err := os.ReadFile(mark)
	if err != nil {
		return nil // there is no mark, or no such folder, which opening the database reports
	}
	return fmt.Errorf("%s is incomplete: %s (remove %s to use it as it is)", path, strings.TrimSpace(string(text)), mark)
}

// OpenDB opens the database named by a data_param. A missing, empty or incomplete database is an error.
func OpenDB(p *caffepb.DataParameter) (Source, error) {
	if p.GetSource() == "" {
		return nil, errors.New("data_param: source is not set")
	}
	if err := checkComplete(p.GetSource()); err != nil {
		return nil, err
	}
	switch p.GetBackend() {
	case caffepb.DataParameter_LMDB:
		s, err := openLMDB(p.GetSource())
		return s, otherBackend(err, p, "CURRENT", caffepb.DataParameter_LEVELDB)
	case caffepb.DataParameter_LEVELDB:
		s, err := openLevelDB(p.GetSource())
		return s, otherBackend(err, p, "data.mdb", caffepb.DataParameter_LMDB)
	}
	return nil, fmt.Errorf("data_param: unknown backend %v (known: LEVELDB, LMDB)", p.GetBackend())
}

// otherBackend adds a hint to an error if the folder holds a database of another backend, recognised by a file's name. LEVELDB is
// the field's default, so a forgotten backend is the likeliest cause.
func otherBackend(err error, p *caffepb.DataParameter, file string, backend caffepb.DataParameter_DB) error {
	if err == nil {
		return nil
	}
	if _, missing := os.Stat(filepath.Join(p.GetSource(), file)); missing != nil {
		return err
	}
	return fmt.Errorf("%s holds a database of backend %v, not %v: set data_param { backend: %v }", p.GetSource(), backend, p.GetBackend(), backend)
}

// entries is the interface of a database for dbSource.
type entries interface {
	First() bool
	Next() bool
	Key() []byte
	AppendValue(dst []byte) ([]byte, error)
	Err() error
	Close() error
}

// dbSource makes an endless stream of a database's entries, in the order of their keys.
type dbSource struct {
	entries
	path string
	at   uint64 // entries delivered since First
	size uint64 // number of entries; 0 until it is known
	item uint64 // position in the stream
}

func newDBSource(e entries, path string, size uint64) (*dbSource, error) {
	s := &dbSource{entries: e, path: path, size: size}
	if !e.First() {
		err := e.Err()
		if err == nil {
			err = fmt.Errorf("%s: the database has no entries", path)
		}
		return nil, errors.Join(err, e.Close())
	}
	return s, nil
}

// Next implements Source.
func (s *dbSource) Next(r *Record) error {
	raw, err := s.AppendValue(r.Raw[:0])
	if err != nil {
		return err
	}
	r.Name, r.Raw = s.path, raw
	r.Key = append(r.Key[:0], s.Key()...)
	return s.advance()
}

// advance goes to the following entry, or from the last entry to the first.
func (s *dbSource) advance() error {
	s.item++
	s.at++
	if s.entries.Next() {
		return nil
	}
	if err := s.Err(); err != nil {
		return err
	}
	s.size = s.at
	return s.rewind()
}

// Len returns the number of entries, 0 if it is not known yet.
func (s *dbSource) Len() int { return int(s.size) }

// Count returns the number of entries, 0 if there are more than most. It reads keys, and begins the stream anew.
func (s *dbSource) Count(most uint64) (uint64, error) {
	if s.size > 0 {
		return s.size, nil
	}
	if err := s.rewind(); err != nil {
		return 0, err
	}
	for s.item = 0; s.size == 0 && s.item <= most; {
		if err := s.advance(); err != nil {
			return 0, err
		}
	}
	return s.size, nil
}

func (s *dbSource) rewind() error {
	s.at = 0
	if s.First() {
		return nil
	}
	if err := s.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%s: the database has become empty", s.path)
}

// Seek implements Source. It reads keys only, and passes over the database at most once if its size is known.
func (s *dbSource) Seek(item uint64) error {
	if item < s.item {
		if err := s.rewind(); err != nil {
			return err
		}
		s.item = 0
	}
	for s.item < item {
		if s.at == 0 && s.size > 0 {
			s.item += (item - s.item) / s.size * s.size
			if s.item == item {
				return nil
			}
		}
		if err := s.advance(); err != nil {
			return err
		}
	}
	return nil
}
