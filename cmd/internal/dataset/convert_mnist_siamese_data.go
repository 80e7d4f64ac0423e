package dataset

import (
	"flag"
	"fmt"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// ConvertMnistSiamese is the command convert_mnist_siamese_data.
var ConvertMnistSiamese = cli.Command{
	Name:     "convert_mnist_siamese_data",
	Synopsis: "put pairs of MNIST's images into a database",
	Args:     "IMAGE_FILE LABEL_FILE DB_NAME [-seed S] [-backend leveldb|lmdb]",
	Example:  "swcaffe convert_mnist_siamese_data train-images-idx3-ubyte train-labels-idx1-ubyte mnist_siamese_train_leveldb",
	Words:    []string{"images", "labels", "db"},
	Writes:   "db",
	Help: `Draws random pairs from files in MNIST's IDX format, compressed by gzip or not, as many pairs as there are images, and writes them for a
siamese net. A pair is a Datum record with two channels, one image each; keys count from 00000000. The label is 1 for two images of
the same class, else 0. Both images are drawn from the whole file. The same seed draws the same pairs.`,
	Do: cli.With(siameseFlags, convertMnistSiamese),
}

func siameseFlags(fs *flag.FlagSet, o *siameseOptions) {
	cli.StringVar(fs, &o.images, "images", "", "the `FILE` of images: idx3-ubyte", cli.AnyFile)
	cli.StringVar(fs, &o.labels, "labels", "", "the `FILE` of labels: idx1-ubyte", cli.AnyFile)
	cli.StringVar(fs, &o.db, "db", "", "the `DATABASE` to write", cli.Folder)
	cli.StringVar(fs, &o.kind, "backend", "leveldb", "the kind of database: leveldb or lmdb", cli.OneOf("lmdb", "leveldb"))
	fs.Uint64Var(&o.seed, "seed", 1, "the seed of the pairs")
}

type siameseOptions struct {
	mnistOptions
	seed uint64
}

func convertMnistSiamese(e *cli.Env, o *siameseOptions) error {
	if o.db == "" {
		return cli.Usagef("need three names: swcaffe convert_mnist_siamese_data IMAGE_FILE LABEL_FILE DB_NAME")
	}
	images, labels, err := openMnist(o.images, o.labels)
	if err != nil {
		return err
	}
	defer images.Close()
	defer labels.Close()
	if images.extents[0] == 0 {
		return fmt.Errorf("%s holds no images to draw pairs from", o.images)
	}
	e.Log.Infof("A total of %d items.", images.extents[0])
	e.Log.Infof("Rows: %d Cols: %d", images.extents[1], images.extents[2])
	db, err := cli.CreateDatabase(o.db, o.kind)
	if err != nil {
		return err
	}
	if err = db.Publish(drawPairs(e, images, labels, db, o.seed)); err == nil {
		e.Log.Infof("Processed %d pairs.", images.extents[0])
	}
	return err
}

// drawPairs writes as many pairs as there are images.
func drawPairs(e *cli.Env, images, labels *idxFile, db *cli.Database, seed uint64) error {
	pixels, err := images.readAll()
	if err != nil {
		return err
	}
	classes, err := labels.readAll()
	if err != nil {
		return err
	}
	n, rows, columns := images.extents[0], images.extents[1], images.extents[2]
	size := rows * columns
	pair := make([]byte, 2*size)
	d := &caffepb.Datum{Channels: proto.Int32(2), Height: proto.Int32(int32(rows)), Width: proto.Int32(int32(columns)), Data: pair}
	draw := rand.New(rand.NewPCG(seed, 0))
	bar := cli.NewProgress(e.Stderr, n, "pairs")
	defer bar.Finish()
	for k := range n {
		i, j := draw.IntN(n), draw.IntN(n)
		copy(pair, pixels[i*size:(i+1)*size])
		copy(pair[size:], pixels[j*size:(j+1)*size])
		d.Label = proto.Int32(0)
		if classes[i] == classes[j] {
			d.Label = proto.Int32(1)
		}
		value, err := proto.Marshal(d)
		if err != nil {
			return err
		}
		if err := db.Put(fmt.Appendf(nil, "%08d", k), value); err != nil {
			return err
		}
		bar.Add(1)
	}
	return nil
}

// readAll returns the bytes of all items. Its buffer grows with the data read, so a wrong header allocates nothing.
func (x *idxFile) readAll() ([]byte, error) {
	size := 1
	for _, extent := range x.extents[1:] {
		size *= extent
	}
	var all []byte
	item := make([]byte, size)
	for n := range x.extents[0] {
		if err := x.read(item, n); err != nil {
			return nil, err
		}
		all = append(all, item...)
	}
	return all, nil
}
