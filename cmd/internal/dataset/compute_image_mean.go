package dataset

import (
	"flag"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// ComputeImageMean is the command compute_image_mean.
var ComputeImageMean = cli.Command{
	Name:     "compute_image_mean",
	Synopsis: "the mean image of a database",
	Args:     "INPUT_DB [OUTPUT_FILE] [-backend lmdb|leveldb]",
	Example:  "swcaffe compute_image_mean data/digits_train_lmdb mean.binaryproto",
	Words:    []string{"db", "out"},
	Help: `Averages the images of a database, all of one size and as many channels, and writes the mean as a BlobProto for transform_param { mean_file }.
The mean of each channel is printed too.`,
	Do: cli.With(meanFlags, computeImageMean),
}

func meanFlags(fs *flag.FlagSet, o *meanOptions) {
	cli.StringVar(fs, &o.db, "db", "", "the `DATABASE` to average", cli.Folder)
	cli.OutputVar(fs, &o.out, "out", "the `FILE` to write; none if empty")
	cli.StringVar(fs, &o.kind, "backend", "lmdb", "the kind of database: lmdb or leveldb", cli.OneOf("lmdb", "leveldb"))
}

type meanOptions struct {
	db, out, kind string
}

// progressEvery is the number of records between two progress lines, as in Caffe's database tools.
const progressEvery = 10000

func computeImageMean(e *cli.Env, o *meanOptions) error {
	if o.db == "" {
		return cli.Usagef("need a database: swcaffe compute_image_mean INPUT_DB [OUTPUT_FILE]")
	}
	mean, channels, err := averageDatabase(e, o.db, o.kind)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := e.WriteBinary(o.out, meanProto(mean)); err != nil {
			return err
		}
	}
	e.Log.Infof("Number of channels: %d", channels)
	for c, v := range data.ChannelMeans(mean, channels) {
		e.Log.Infof("mean_value channel [%d]: %s", c, caffelog.Figure(v))
	}
	return nil
}

// averageDatabase returns the mean image of a database, and its channels.
func averageDatabase(e *cli.Env, db, kind string) (mean *blob.Blob, channels int, err error) {
	var shape [3]int
	var sums []float64
	n, damaged := 0, 0
	var d data.Datum
	e.Log.Info("Starting iteration")
	err = cli.EachRecord(db, kind, func(r *data.Record) error {
		if err := d.Unmarshal(r.Raw); err != nil {
			return err
		}
		p, err := d.Pixels(imageio.Unchanged)
		if err != nil {
			return err
		}
		if d.Repaired != "" {
			damaged++
			e.Log.Warnf("%s: key %q: the image is damaged and was read as far as it goes: %s", db, r.Key, d.Repaired)
		}
		this := [3]int{p.Channels, p.Height, p.Width}
		if n == 0 {
			if err := pages.Room(8 * float64(p.Channels) * float64(p.Height) * float64(p.Width)); err != nil {
				return fmt.Errorf("the sums of images of %v (channels, height, width): %w", this, err)
			}
			shape, sums = this, make([]float64, p.Channels*p.Height*p.Width)
		}
		if this != shape {
			return fmt.Errorf("the image is %v (channels, height, width), the first one was %v", this, shape)
		}
		addPixels(sums, &p)
		p.Recycle()
		if n++; n%progressEvery == 0 {
			e.Log.Infof("Processed %d files.", n)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	e.Log.Infof("Processed %d files.", n)
	if damaged > 0 {
		e.Log.Warnf("%d of %d images are damaged and were read as far as they go; they are named above", damaged, n)
	}
	mean = blob.New(1, shape[0], shape[1], shape[2])
	for i, sum := range sums {
		mean.Data()[i] = float32(sum / float64(n))
	}
	return mean, shape[0], nil
}

// addPixels adds an image's values to sums, channel by channel and row by row.
func addPixels(sums []float64, p *data.Pixels) {
	for c := range p.Channels {
		for y := range p.Height {
			at := c*p.StrideC + y*p.StrideY
			if p.Bytes != nil {
				addRow(sums[:p.Width], p.Bytes[at:], p.StrideX)
			} else {
				addRow(sums[:p.Width], p.Floats[at:], p.StrideX)
			}
			sums = sums[p.Width:]
		}
	}
}

// addRow adds every pitch-th value of row to sums.
func addRow[V byte | float32](sums []float64, row []V, pitch int) {
	if pitch == 1 {
		row = row[:len(sums)]
		for i, v := range row {
			sums[i] += float64(v)
		}
		return
	}
	for i := range sums {
		sums[i] += float64(row[i*pitch])
	}
}
