package infer

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/suggest"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// ExtractFeatures is the command extract_features.
var ExtractFeatures = cli.Command{
	Name:     "extract_features",
	Synopsis: "write blobs of a trained net into databases",
	Args:     "WEIGHTS MODEL BLOB[,BLOB...] DB[,DB...] NUM_BATCHES [lmdb|leveldb]",
	Example:  "swcaffe extract_features lenet.caffemodel train_val.prototxt ip1,ip2 ip1_lmdb,ip2_lmdb 40 lmdb",
	Words:    []string{"weights", "model", "blobs", "dbs", "batches", "backend", "mode", "gpu"},
	Writes:   "dbs",
	Help: `Runs the net's TEST phase for NUM_BATCHES batches and writes, for every image of every batch, the values of each blob as a Datum
with float_data into the database of the same place in the list. Keys count images from 0000000000.

After an error or an interrupt, the images until then are kept as DB.incomplete, which data layers refuse as long as the file INCOMPLETE is in
that folder.`,
	Do: cli.With(featureFlags, extractFeatures),
}

func featureFlags(fs *flag.FlagSet, o *featureOptions) {
	cli.StringVar(fs, &o.weights, "weights", "", "trained weights: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.model, "model", "", "the net definition `FILE` (prototxt)", cli.Prototxt)
	fs.StringVar(&o.blobs, "blobs", "", "the `NAMES` of the blobs, separated by commas")
	fs.StringVar(&o.dbs, "dbs", "", "the `DATABASES` to write, as many")
	fs.IntVar(&o.batches, "batches", 0, "the number of batches")
	cli.StringVar(fs, &o.backend, "backend", "lmdb", "the kind of database: lmdb or leveldb", cli.OneOf("lmdb", "leveldb"))
	cli.StringVar(fs, &o.mode, "mode", "CPU", "CPU; GPU is accepted with a warning", cli.OneOf("CPU", "GPU"))
	o.device.Register(fs)
	o.state.Register(fs)
}

type featureOptions struct {
	weights, model, blobs, dbs, backend, mode string
	batches                                   int
	device                                    cli.DeviceFlags
	state                                     cli.StateFlags
}

// feature is a blob, and the database for its values.
type feature struct {
	name string
	blob *blob.Blob
	db   *cli.Database
	n    int
}

func extractFeatures(e *cli.Env, o *featureOptions) error {
	names, paths := strings.Split(o.blobs, ","), strings.Split(o.dbs, ",")
	switch {
	case o.weights == "" || o.model == "" || o.blobs == "" || o.dbs == "":
		return cli.Usagef("need five words: swcaffe extract_features WEIGHTS MODEL BLOBS DBS NUM_BATCHES")
	case o.batches < 1:
		return cli.Usagef("NUM_BATCHES %d: at least one batch is needed", o.batches)
	case len(names) != len(paths):
		return cli.Usagef("%d blobs but %d databases: each blob needs one", len(names), len(paths))
	case twice(paths) != "":
		return cli.Usagef("database %s is named twice: each blob needs one of its own", twice(paths))
	case !strings.EqualFold(o.mode, "CPU") && !strings.EqualFold(o.mode, "GPU"):
		return cli.Usagef("mode %q: must be CPU or GPU", o.mode)
	case strings.EqualFold(o.mode, "GPU"):
		cli.WarnOfGPU(e, "mode GPU", "net")
	}
	t := trained{device: &o.device, state: o.state, model: o.model, weights: o.weights, seed: o.device.SeedOrTime()}
	return t.use(e, func(n *swnet.Net) error { return o.run(e, n, names, paths) })
}

// twice returns a name that occurs twice in a list, or "".
func twice(names []string) string {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return n
		}
	}
	return ""
}

// run runs the net and writes its blobs to databases.
func (o *featureOptions) run(e *cli.Env, n *swnet.Net, names, paths []string) (err error) {
	var features []*feature
	for _, name := range names {
		f := &feature{name: name, blob: n.Blob(name)}
		if f.blob == nil {
			return fmt.Errorf("%s: %w", o.model, suggest.Unknown("blob", name, "blobs", n.BlobNames()))
		}
		features = append(features, f)
	}
	defer func() {
		for _, f := range features {
			if f.db != nil {
				err = f.db.Publish(err)
			}
		}
	}()
	for i, f := range features {
		if f.db, err = cli.CreateDatabase(paths[i], o.backend); err != nil {
			return err
		}
	}
	warnUnfed(e, n)
	var repeated repeats
	if err := repeated.tell(e, n, "NUM_BATCHES", o.batches); err != nil {
		return err
	}
	e.Log.Info("Extracting Features")
	for b := range o.batches {
		if _, err := n.Forward(); err != nil {
			return fmt.Errorf("batch %d: %w", b, err)
		}
		for _, f := range features {
			if err := f.store(); err != nil {
				return err
			}
		}
	}
	if err := repeated.tell(e, n, "NUM_BATCHES", o.batches); err != nil {
		return err
	}
	for _, f := range features {
		e.Log.Infof("Extracted features of %d query images for feature blob %s", f.n, f.name)
	}
	return nil
}

// store writes the blob's values for every image of a batch.
func (f *feature) store() error {
	shape := f.blob.Shape()
	if len(shape) == 0 {
		shape = []int{1}
	}
	each := f.blob.Count() / max(1, shape[0])
	dim := func(i int) *int32 {
		if i < len(shape) {
			return proto.Int32(int32(shape[i]))
		}
		return proto.Int32(1)
	}
	for i := range shape[0] {
		d := &caffepb.Datum{Channels: dim(1), Height: dim(2), Width: dim(3), FloatData: f.blob.Data()[i*each : (i+1)*each]}
		if len(shape) > 4 {
			d.Channels, d.Height, d.Width = proto.Int32(int32(each)), proto.Int32(1), proto.Int32(1)
		}
		value, err := proto.Marshal(d)
		if err != nil {
			return err
		}
		if err := f.db.Put(fmt.Appendf(nil, "%010d", f.n), value); err != nil {
			return err
		}
		f.n++
	}
	return nil
}
