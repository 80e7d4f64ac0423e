package dataset

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// ConvertCifar is the command convert_cifar_data.
var ConvertCifar = cli.Command{
	Name:     "convert_cifar_data",
	Synopsis: "put CIFAR-10's files into databases",
	Args:     "INPUT_FOLDER OUTPUT_FOLDER [lmdb|leveldb]",
	Example:  "swcaffe convert_cifar_data cifar-10-batches-bin data lmdb",
	Words:    []string{"in", "out", "backend"},
	Help: `Reads data_batch_1.bin to data_batch_5.bin and test_batch.bin of the binary version of CIFAR-10
(https://www.cs.toronto.edu/~kriz/cifar.html) and writes them into cifar10_train_lmdb and cifar10_test_lmdb in OUTPUT_FOLDER, with
keys from 00000. A mean image for transform_param { mean_file } is made by compute_image_mean.`,
	Do: cli.With(cifarFlags, convertCifar),
}

func cifarFlags(fs *flag.FlagSet, o *cifarOptions) {
	cli.StringVar(fs, &o.in, "in", "", "the `FOLDER` of the batches", cli.Folder)
	cli.StringVar(fs, &o.out, "out", "", "the `FOLDER` for the databases", cli.Folder)
	cli.StringVar(fs, &o.kind, "backend", "lmdb", "the kind of databases: lmdb or leveldb", cli.OneOf("lmdb", "leveldb"))
}

type cifarOptions struct {
	in, out, kind string
}

const (
	cifarSize    = 32
	cifarImage   = 3 * cifarSize * cifarSize // red, green and blue planes, each row by row
	cifarRecord  = 1 + cifarImage            // one byte of label, then the image
	cifarClasses = 10
)

func convertCifar(e *cli.Env, o *cifarOptions) error {
	if o.in == "" || o.out == "" {
		return cli.Usagef("need two folders: swcaffe convert_cifar_data INPUT_FOLDER OUTPUT_FOLDER [lmdb|leveldb]")
	}
	if _, err := cli.ParseBackend(o.kind); err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	var training []string
	for i := range 5 {
		training = append(training, filepath.Join(o.in, fmt.Sprintf("data_batch_%d.bin", i+1)))
	}
	for _, set := range []struct {
		name, what string
		files      []string
	}{
		{"cifar10_train_" + o.kind, "Training", training},
		{"cifar10_test_" + o.kind, "Testing", []string{filepath.Join(o.in, "test_batch.bin")}},
	} {
		e.Log.Infof("Writing %s data", set.what)
		db, err := cli.CreateDatabase(filepath.Join(o.out, set.name), o.kind)
		if err != nil {
			return err
		}
		n, err := db.Fill(func() (n int, err error) {
			for i, path := range set.files {
				e.Log.Infof("%s Batch %d", set.what, i+1)
				if n, err = copyCifar(path, db, n); err != nil {
					return n, err
				}
			}
			return n, nil
		})
		if err != nil {
			return err
		}
		e.Log.Infof("Processed %d files.", n)
	}
	return nil
}

// copyCifar writes the images of a batch under keys from n on, and returns the next key.
func copyCifar(path string, db *cli.Database, n int) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return n, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	record := make([]byte, cifarRecord)
	d := &caffepb.Datum{Channels: proto.Int32(3), Height: proto.Int32(cifarSize), Width: proto.Int32(cifarSize), Data: record[1:]}
	for i := 0; ; i++ {
		switch got, err := io.ReadFull(in, record); {
		case errors.Is(err, io.EOF) && i > 0:
			return n, nil
		case err != nil:
			return n, fmt.Errorf("%s: image %d has %d bytes, want %d (a label and 3 x %d x %d pixels): %w", path, i, got, cifarRecord, cifarSize, cifarSize, err)
		case record[0] >= cifarClasses:
			return n, fmt.Errorf("%s: image %d has label %d, CIFAR-10 has 0 to %d", path, i, record[0], cifarClasses-1)
		}
		d.Label = proto.Int32(int32(record[0]))
		value, err := proto.Marshal(d)
		if err != nil {
			return n, err
		}
		if err := db.Put(fmt.Appendf(nil, "%05d", n), value); err != nil {
			return n, err
		}
		n++
	}
}
