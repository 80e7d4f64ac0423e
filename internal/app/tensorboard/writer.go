// Package tensorboard writes event files for TensorBoard, without TensorFlow.
//
// A Writer appends to one file. Run is a subscriber to a run's events that writes the curves of the training net and of each test net, as
// runs "train", "test_0" and so on, so that TensorBoard draws equal outputs over one another.
//
//	run.go       Run: from events to values
//	describe.go  what a run's start says: its net, its hyperparameters and metrics
//	graph.go     Graph: a net as a GraphDef
//	hparams.go   hyperparameters, as the messages of TensorBoard's plugin
//	settings.go  a message's fields as texts
//	writer.go    Writer: a file
//	event.go     tensorflow.Event and Summary in protobuf's encoding
//	record.go    the framing of records (TFRecord)
package tensorboard

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Writer writes an event file. A failed write, as on a full disk, loses its event and does not end the run.
type Writer struct {
	file *os.File
	size int64 // of the whole records
	warn func(error)
	lost int // events lost since the last success
}

// Create makes a new event file in a folder, which it makes too. step is the first one: later points of earlier files are void. warn is
// called for the first failed write of a series.
func Create(folder string, at time.Time, step int, warn func(error)) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	name := fmt.Sprintf("events.out.tfevents.%010d.%s.%d", at.Unix(), host, os.Getpid())
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file, warn: warn}
	w.write(versionEvent(at))
	if step > 0 {
		w.write(startEvent(at, step))
	}
	return w, nil
}

// Add writes values of a step.
func (w *Writer) Add(at time.Time, step int, values ...Value) {
	w.write(summaryEvent(at, step, values))
}

// write writes an event in one write. Readers stop at a cut record, so a failed write is taken back.
func (w *Writer) write(event []byte) {
	data := record(event)
	_, err := w.file.WriteAt(data, w.size)
	if err == nil {
		w.size += int64(len(data))
		w.lost = 0
		return
	}
	_ = w.file.Truncate(w.size)
	if w.lost++; w.lost == 1 {
		w.warn(fmt.Errorf("%s: an event is lost: %w; training goes on", w.file.Name(), err))
	}
}

// Close closes the file.
func (w *Writer) Close() error { return w.file.Close() }
