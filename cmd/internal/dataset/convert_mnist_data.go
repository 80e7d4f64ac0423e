package dataset

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// ConvertMnist is the command convert_mnist_data.
var ConvertMnist = cli.Command{
	Name:     "convert_mnist_data",
	Synopsis: "put MNIST's files into a database",
	Args:     "IMAGE_FILE LABEL_FILE DB_NAME [-backend lmdb|leveldb]",
	Example:  "swcaffe convert_mnist_data train-images-idx3-ubyte train-labels-idx1-ubyte mnist_train_lmdb",
	Words:    []string{"images", "labels", "db"},
	Writes:   "db",
	Help: `Reads images and labels in the IDX format of MNIST (http://yann.lecun.com/exdb/mnist), compressed by gzip or not, and writes
grey Datum records with keys from 00000000 into a new database.`,
	Do: cli.With(mnistFlags, convertMnist),
}

func mnistFlags(fs *flag.FlagSet, o *mnistOptions) {
	cli.StringVar(fs, &o.images, "images", "", "the `FILE` of images: idx3-ubyte", cli.AnyFile)
	cli.StringVar(fs, &o.labels, "labels", "", "the `FILE` of labels: idx1-ubyte", cli.AnyFile)
	cli.StringVar(fs, &o.db, "db", "", "the `DATABASE` to write", cli.Folder)
	cli.StringVar(fs, &o.kind, "backend", "lmdb", "the kind of database: lmdb or leveldb", cli.OneOf("lmdb", "leveldb"))
}

type mnistOptions struct {
	images, labels, db, kind string
}

func convertMnist(e *cli.Env, o *mnistOptions) error {
	if o.db == "" {
		return cli.Usagef("need three names: swcaffe convert_mnist_data IMAGE_FILE LABEL_FILE DB_NAME")
	}
	images, labels, err := openMnist(o.images, o.labels)
	if err != nil {
		return err
	}
	defer images.Close()
	defer labels.Close()
	e.Log.Infof("A total of %d items.", images.extents[0])
	e.Log.Infof("Rows: %d Cols: %d", images.extents[1], images.extents[2])
	db, err := cli.CreateDatabase(o.db, o.kind)
	if err != nil {
		return err
	}
	n, err := db.Fill(func() (int, error) { return copyIDX(e, images, labels, db) })
	if err == nil {
		e.Log.Infof("Processed %d files.", n)
	}
	return err
}

// openMnist opens a file of images and the file of their labels.
func openMnist(imagePath, labelPath string) (images, labels *idxFile, err error) {
	if images, err = openIDX(imagePath, 3); err != nil {
		return nil, nil, err
	}
	if labels, err = openIDX(labelPath, 1); err != nil {
		images.Close()
		return nil, nil, err
	}
	if images.extents[0] != labels.extents[0] {
		images.Close()
		labels.Close()
		return nil, nil, fmt.Errorf("%s holds %d images, but %s %d labels", imagePath, images.extents[0], labelPath, labels.extents[0])
	}
	return images, labels, nil
}

// copyIDX writes every image with its label.
func copyIDX(e *cli.Env, images, labels *idxFile, db *cli.Database) (n int, err error) {
	rows, columns := images.extents[1], images.extents[2]
	pixels, label := make([]byte, rows*columns), make([]byte, 1)
	d := &caffepb.Datum{Channels: proto.Int32(1), Height: proto.Int32(int32(rows)), Width: proto.Int32(int32(columns)), Data: pixels}
	bar := cli.NewProgress(e.Stderr, images.extents[0], "images")
	defer bar.Finish()
	for n < images.extents[0] {
		if err := errors.Join(images.read(pixels, n), labels.read(label, n)); err != nil {
			return n, err
		}
		d.Label = proto.Int32(int32(label[0]))
		value, err := proto.Marshal(d)
		if err != nil {
			return n, err
		}
		if err := db.Put(fmt.Appendf(nil, "%08d", n), value); err != nil {
			return n, err
		}
		bar.Add(1)
		if n++; n%progressEvery == 0 {
			e.Log.Infof("Processed %d files.", n)
		}
	}
	return n, nil
}

// idxFile is a file of bytes in the IDX format: two zero bytes, 8 for unsigned bytes, the number of axes, the extent of each axis
// as a big-endian 32-bit number, then the bytes in row-major order.
type idxFile struct {
	path    string
	extents []int
	in      io.Reader
	file    *os.File
}

// maxIDXImage limits an image's bytes, so that a damaged header does not make the tool allocate gigabytes.
const maxIDXImage = 1 << 26

// openIDX reads the header of a file and checks the number of axes.
func openIDX(path string, axes int) (*idxFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x := &idxFile{path: path, file: f}
	if err := x.header(axes); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

func (x *idxFile) header(axes int) error {
	in, err := maybeGzip(x.file)
	if err != nil {
		return err
	}
	x.in = in
	var magic uint32
	if err := binary.Read(x.in, binary.BigEndian, &magic); err != nil {
		return errors.New("the file is too short for the header of an IDX file")
	}
	if want := uint32(0x800 + axes); magic != want {
		return fmt.Errorf("magic number %d, want %d: not an IDX file of bytes with %d axes", magic, want, axes)
	}
	size := 1
	for axis := range axes {
		var extent uint32
		if err := binary.Read(x.in, binary.BigEndian, &extent); err != nil {
			return fmt.Errorf("the header ends before the extent of axis %d", axis)
		}
		if axis > 0 && (extent == 0 || int(extent) > maxIDXImage/size) {
			return fmt.Errorf("axis %d has an extent of %d", axis, extent)
		}
		if x.extents = append(x.extents, int(extent)); axis > 0 {
			size *= int(extent)
		}
	}
	return nil
}

// maybeGzip returns a reader of what gzip has packed, or of the bytes themselves.
func maybeGzip(file io.Reader) (io.Reader, error) {
	in := bufio.NewReader(file)
	if start, err := in.Peek(2); err != nil || start[0] != 0x1f || start[1] != 0x8b {
		return in, nil
	}
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReader(unpacked), nil
}

// read reads the bytes of item n into b. Items must be read in order.
func (x *idxFile) read(b []byte, n int) error {
	if _, err := io.ReadFull(x.in, b); err != nil {
		return fmt.Errorf("%s: the file ends in item %d of %d: %w", x.path, n, x.extents[0], err)
	}
	return nil
}

func (x *idxFile) Close() error { return x.file.Close() }
