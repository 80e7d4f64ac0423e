package data

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/syndtr/goleveldb/leveldb/journal"
	"github.com/syndtr/goleveldb/leveldb/storage"
)

// goleveldb misreads the journals of databases that LevelDB wrote, and would lose records, for two reasons. Opened for reading,
// it stops with EOF at a second journal. And it skips the records of a journal whose sequence numbers lie below the manifest's,
// although LevelDB's manifest also counts the records of the current journal. Therefore levelDir shows goleveldb a single
// journal. It holds the records of all live journals, with new sequence numbers.

// firstSequence is the new sequence number of the first record. It lies above all numbers that LevelDB reaches, and in the middle
// of the 56-bit range.
const firstSequence = 1 << 55

// liveJournals returns the journals whose records are not in tables yet, the oldest first.
func (d levelDir) liveJournals() ([]storage.FileDesc, error) {
	fds, err := d.files(storage.TypeJournal)
	if err != nil || len(fds) == 0 {
		return nil, err
	}
	oldest, previous, err := d.manifest()
	if err != nil {
		return nil, err
	}
	fds = slices.DeleteFunc(fds, func(fd storage.FileDesc) bool { return fd.Num < oldest && fd.Num != previous })
	slices.SortFunc(fds, func(a, b storage.FileDesc) int { return int(a.Num - b.Num) })
	return fds, nil
}

// manifest returns the numbers of the live journals: of the oldest one, and of one earlier journal, 0 if there is none. A
// malformed record is an error, as in LevelDB; goleveldb would allocate buffers of whatever length the record states.
func (d levelDir) manifest() (oldest, previous int64, err error) {
	fd, err := d.GetMeta()
	if err != nil {
		return 0, 0, err
	}
	f, err := d.openFile(fd)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	if oldest, previous, err = manifestJournals(f); err != nil {
		err = &storage.ErrCorrupted{Fd: fd, Err: err}
	}
	return oldest, previous, err
}

// Tags of the fields in a manifest record, and the count of numbers and of strings that follow each.
const (
	manifestComparer, manifestJournal, manifestNextFile, manifestSequence = 1, 2, 3, 4
	manifestCompacted, manifestDeleted, manifestAdded, manifestPrevious   = 5, 6, 7, 9
)

var manifestFields = map[uint64]struct{ numbers, strings int }{
	manifestComparer: {0, 1}, manifestJournal: {1, 0}, manifestNextFile: {1, 0}, manifestSequence: {1, 0},
	manifestCompacted: {1, 1}, manifestDeleted: {2, 0}, manifestAdded: {3, 2}, manifestPrevious: {1, 0},
}

func manifestJournals(manifest io.Reader) (oldest, previous int64, err error) {
	records := journal.NewReader(manifest, nil, false, true)
	var record bytes.Buffer
	for n := 0; ; n++ {
		r, err := records.Next()
		if errors.Is(err, io.EOF) {
			return oldest, previous, nil
		}
		if err != nil {
			return 0, 0, err
		}
		record.Reset()
		if _, err := record.ReadFrom(r); err != nil {
			continue
		}
		for rest := record.Bytes(); len(rest) > 0; {
			tag, number, after, ok := manifestField(rest)
			if !ok {
				return 0, 0, fmt.Errorf("record %d of the manifest is damaged %d bytes before its end", n, len(rest))
			}
			switch tag {
			case manifestJournal:
				oldest = number
			case manifestPrevious:
				previous = number
			}
			rest = after
		}
	}
}

// manifestField decodes the first field of b: its tag, its first number, and the bytes after the field.
func manifestField(b []byte) (tag uint64, number int64, rest []byte, ok bool) {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		ok = ok && n > 0
		b = b[max(n, 0):]
		return v
	}
	ok = true
	tag = next()
	field, known := manifestFields[tag]
	if !ok || !known {
		return 0, 0, nil, false
	}
	for i := range field.numbers {
		if v := next(); i == 0 {
			number = int64(v)
		}
	}
	for range field.strings {
		size := next()
		if size > uint64(len(b)) {
			return 0, 0, nil, false
		}
		b = b[size:]
	}
	return tag, number, b, ok
}

// mergedJournals reads as one journal with the records of several. Like goleveldb, it drops damaged records.
type mergedJournals struct {
	dir      levelDir
	rest     []storage.FileDesc // not opened yet
	file     storage.Reader     // the open journal
	records  *journal.Reader
	record   bytes.Buffer
	sequence uint64 // number of entries so far
	out      bytes.Buffer
	writer   *journal.Writer
}

// Read implements io.Reader.
func (m *mergedJournals) Read(p []byte) (int, error) {
	if m.writer == nil {
		m.writer = journal.NewWriter(&m.out)
	}
	for m.out.Len() == 0 {
		m.out.Reset()
		if err := m.next(); err != nil {
			return 0, err
		}
	}
	return m.out.Read(p)
}

// next copies a record, or opens the following journal.
func (m *mergedJournals) next() error {
	if m.file == nil {
		if len(m.rest) == 0 {
			return io.EOF
		}
		f, err := m.dir.openFile(m.rest[0])
		if err != nil {
			return err
		}
		m.file, m.rest = f, m.rest[1:]
		m.records = journal.NewReader(f, nil, false, true)
	}
	r, err := m.records.Next()
	if errors.Is(err, io.EOF) {
		return m.Close()
	}
	if err != nil {
		return err
	}
	m.record.Reset()
	if _, err := m.record.ReadFrom(r); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil // the record is damaged: dropped
		}
		return err
	}
	out, err := m.writer.Next()
	if err != nil {
		return err
	}
	if _, err := out.Write(m.renumbered(m.record.Bytes())); err != nil {
		return err
	}
	return m.writer.Flush()
}

// renumbered replaces the sequence number of a batch. A batch starts with an 8-byte sequence number and a 4-byte entry count. It
// leaves shorter batches unchanged, for goleveldb to drop.
func (m *mergedJournals) renumbered(batch []byte) []byte {
	if len(batch) >= 12 {
		binary.LittleEndian.PutUint64(batch, firstSequence+m.sequence)
		m.sequence += uint64(binary.LittleEndian.Uint32(batch[8:]))
	}
	return batch
}

// Close closes the open journal.
func (m *mergedJournals) Close() error {
	f := m.file
	m.file = nil
	if f == nil {
		return nil
	}
	return f.Close()
}

var errOnlyForward = errors.New("data: a journal is read from its beginning to its end")

// Seek and ReadAt complete storage.Reader. goleveldb calls neither for journals.
func (m *mergedJournals) Seek(int64, int) (int64, error)    { return 0, errOnlyForward }
func (m *mergedJournals) ReadAt([]byte, int64) (int, error) { return 0, errOnlyForward }
