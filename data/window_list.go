package data

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Window is the part X1..X2 x Y1..Y2 of an image, both ends included. Mirror: flip it horizontally.
type Window struct {
	X1, Y1, X2, Y2 int
	Mirror         bool
}

// WindowList is a Source of windows drawn at random from the images of a window file, for training as in R-CNN (Girshick et al.
// 2014). The last int(batch*fg_fraction) windows of each batch come from the foreground: windows whose overlap with an object is
// fg_threshold or more. The others come from the background: overlap below bg_threshold, label 0. The draws depend only on the
// seed and the position in the stream.
type WindowList struct {
	file                   string
	images                 []windowImage
	foreground, background []windowItem
	batch, fromForeground  int
	seed                   uint64
	mirror                 bool
	item                   uint64
}

type windowImage struct {
	path string
	file []byte // with cache_images: the content of the file
}

type windowItem struct {
	image, label   int
	x1, y1, x2, y2 int
	line           int // of the window file, from 1 on
}

// mostText limits the bytes of a window file, so that an endless device is an error.
const mostText = 1 << 28

// Windows returns the number of windows from which the list draws.
func (l *WindowList) Windows() int { return len(l.foreground) + len(l.background) }

// OpenWindowList reads the window file named by p. With mirror, half of the windows are flipped.
func OpenWindowList(p *caffepb.WindowDataParameter, mirror bool, seed uint64) (*WindowList, error) {
	if p.GetSource() == "" {
		return nil, errors.New("window_data_param: source is not set")
	}
	if f := p.GetFgFraction(); !(f >= 0 && f <= 1) {
		return nil, fmt.Errorf("window_data_param: fg_fraction %v is not between 0 and 1", f)
	}
	s := &WindowList{file: p.GetSource(), seed: seed, mirror: mirror, batch: int(p.GetBatchSize())}
	s.fromForeground = int(float32(s.batch) * p.GetFgFraction())
	text, err := regular.ReadText(p.GetSource(), mostText)
	if err != nil {
		return nil, fmt.Errorf("window file: %w", err)
	}
	r := windowReader{param: p, list: s, words: words{name: p.GetSource(), rest: text, line: 1}}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("window file %w", err)
	}
	for _, side := range []struct {
		name  string
		need  int
		items []windowItem
	}{{"foreground", s.fromForeground, s.foreground}, {"background", s.batch - s.fromForeground, s.background}} {
		if side.need > 0 && len(side.items) == 0 {
			return nil, fmt.Errorf("window file %s has no %s windows, of which a batch needs %d", p.GetSource(), side.name, side.need)
		}
	}
	return s, nil
}

// Next implements Source. The record's name is its image's path. Raw is the content of the image file if images are cached.
func (s *WindowList) Next(r *Record) error {
	from := s.background
	if int(s.item%uint64(s.batch)) >= s.batch-s.fromForeground {
		from = s.foreground
	}
	s.put(r, from[draw(s.seed, s.item, drawWindow, len(from))], s.mirror && draw(s.seed, s.item, drawMirror, 2) == 1)
	s.item++
	return nil
}

// put makes a record of a window.
func (s *WindowList) put(r *Record, w windowItem, mirror bool) {
	im := s.images[w.image]
	r.Name, r.Raw, r.Label, r.List, r.Line = im.path, im.file, w.label, s.file, w.line
	r.Window = Window{w.x1, w.y1, w.x2, w.y2, mirror}
}

// Seek implements Source.
func (s *WindowList) Seek(item uint64) error {
	s.item = item
	return nil
}

// Close implements Source.
func (s *WindowList) Close() error { return nil }

// each returns a source of all windows, each once.
func (s *WindowList) each() Source { return &windowWalk{WindowList: s} }

// windowWalk walks over the windows of a list in the order of the window file's images, those of the foreground first.
type windowWalk struct {
	*WindowList
	at uint64
}

// Len returns the number of windows.
func (s *windowWalk) Len() int { return s.Windows() }

// Next implements Source.
func (s *windowWalk) Next(r *Record) error {
	k := int(s.at % uint64(s.Windows()))
	s.at++
	if k < len(s.foreground) {
		s.put(r, s.foreground[k], false)
	} else {
		s.put(r, s.background[k-len(s.foreground)], false)
	}
	return nil
}

// Seek implements Source.
func (s *windowWalk) Seek(item uint64) error {
	s.at = item
	return nil
}
