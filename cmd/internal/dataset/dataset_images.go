package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Endings of the names of image sets' outputs. A mask is an image of the pixels' classes.
const (
	meanOutput  = "mean.binaryproto"
	namesOutput = "labels.txt"
	imagesLMDB  = "_lmdb"
	classesLMDB = "_classes_lmdb"
)

// kind makes a data set kind of an image set.
func (s imageSet) kind() datasetKind {
	k := datasetKind{name: s.name, items: "images", write: func(ctx context.Context, j *datasetJob) error { return writeImages(ctx, j, s) }}
	var outputs []string
	for _, part := range []string{"train", "test"} {
		outputs = append(outputs, part+imagesLMDB)
		if s.masked {
			outputs = append(outputs, part+classesLMDB)
		}
	}
	outputs = append(outputs, meanOutput)
	if s.classes != nil {
		outputs = append(outputs, namesOutput)
	}
	if s.hasFiles() {
		k.flags = []string{"files"}
	}
	k.outputs = func(o *datasetOptions) []string {
		if o.files {
			return append(slices.Clone(outputs), filesOutput)
		}
		return outputs
	}
	return k
}

// writeImages writes the databases of both parts, and the mean of the training images.
func writeImages(ctx context.Context, j *datasetJob, set imageSet) error {
	if set.classes != nil {
		if err := os.WriteFile(j.temporary(namesOutput), []byte(strings.Join(set.classes, "\n")+"\n"), 0o666); err != nil {
			return err
		}
	}
	images := newRendering(set, j.seed)
	for _, p := range j.parts() {
		if set.copied {
			j.Log.Infof("Writing %d %s images of %s into %s", p.n, p.name, set.name, j.outputs[p.name+imagesLMDB].path)
		} else {
			j.Log.Infof("Rendering %d %s images of %s, seed %d, into %s", p.n, p.name, set.name, j.seed, j.outputs[p.name+imagesLMDB].path)
		}
		if err := writePart(ctx, j, images, p); err != nil {
			return err
		}
		if p.name != "train" {
			continue
		}
		mean := blob.New(1, set.channels, set.size, set.size)
		images.mean(mean.Data())
		if err := swproto.WriteBinary(j.temporary(meanOutput), meanProto(mean)); err != nil {
			return err
		}
	}
	return nil
}

// writePart renders a part's images and writes them to its database in order. Masks go to a second database.
func writePart(ctx context.Context, j *datasetJob, images *rendering, p part) error {
	kinds := []string{imagesLMDB}
	if images.set.masked {
		kinds = append(kinds, classesLMDB)
	}
	var writers []*lmdb.Writer
	for _, kind := range kinds {
		w, err := lmdb.Create(j.temporary(p.name + kind))
		if err != nil {
			return err
		}
		defer w.Abort() // does nothing after Close
		writers = append(writers, w)
	}
	if j.files {
		for _, class := range images.set.classes {
			if err := os.MkdirAll(filepath.Join(j.temporary(filesOutput), p.name, classFolder(class)), 0o777); err != nil {
				return err
			}
		}
	}
	bar := cli.NewProgress(j.Stderr, p.n, p.name+" images")
	defer bar.Finish()
	for at := 0; at < p.n; {
		if ctx.Err() != nil {
			return interruptedAt(at, p)
		}
		records, err := images.render(p.first+uint64(at), min(p.n-at, renderBatch))
		if err != nil {
			return err
		}
		for i, values := range records {
			for k, w := range writers {
				if err := w.Put(fmt.Appendf(nil, "%08d", at+i), values[k]); err != nil {
					return err
				}
			}
			if j.files {
				if err := writeClassFile(filepath.Join(j.temporary(filesOutput), p.name), images.set, at+i, values[0]); err != nil {
					return err
				}
			}
		}
		at += len(records)
		bar.Add(len(records))
	}
	for _, w := range writers {
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

// interruptedAt is the error of an interrupt after some images of a part.
func interruptedAt(at int, p part) error {
	return fmt.Errorf("interrupted after %d of %d %s images; nothing was left behind", at, p.n, p.name)
}

// classFolder is the name of a class's folder.
func classFolder(class string) string { return strings.ReplaceAll(class, "/", "_") }

// writeClassFile writes a record's image as FOLDER/CLASS/NUMBER.png.
func writeClassFile(folder string, set imageSet, number int, record []byte) error {
	var d caffepb.Datum
	if err := proto.Unmarshal(record, &d); err != nil {
		return err
	}
	im := imageio.New(set.size, set.size, set.channels)
	plane := set.size * set.size
	for i, v := range d.Data {
		im.Pix[i%plane*set.channels+i/plane] = v
	}
	file, err := encode(im, "png")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, classFolder(set.classes[d.GetLabel()]), fmt.Sprintf("%08d.png", number)), file, 0o666)
}

// meanProto returns a mean image in the form of Caffe's compute_image_mean: its shape in the old fields num, channels, height,
// width.
func meanProto(mean *blob.Blob) *caffepb.BlobProto {
	p := mean.ToProto(false)
	dims := p.GetShape().GetDim()
	p.Shape = nil
	p.Num, p.Channels = proto.Int32(int32(dims[0])), proto.Int32(int32(dims[1]))
	p.Height, p.Width = proto.Int32(int32(dims[2])), proto.Int32(int32(dims[3]))
	return p
}
