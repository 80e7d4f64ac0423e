package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/data/shapes"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Endings of the names of the outputs of objects.
const (
	labelMapOutput = "labelmap.prototxt"
	filesOutput    = "files"
)

// objectsKind is the set for detectors: AnnotatedDatum records; with -masks also pairs of Datum records, images and their masks; with
// -files also the images, masks and annotations as files.
var objectsKind = datasetKind{
	name: "objects", items: "images", write: writeObjects, flags: []string{"size", "encoding", "masks", "files"},
	outputs: func(o *datasetOptions) []string {
		names := []string{"train_lmdb", "test_lmdb", labelMapOutput}
		if o.masks {
			names = append(names, "train_images_lmdb", "train_classes_lmdb", "test_images_lmdb", "test_classes_lmdb")
		}
		if o.files {
			names = append(names, filesOutput)
		}
		return names
	},
}

// mostSide limits -size.
const mostSide = 4096

func (o *datasetOptions) checkObjects() error {
	switch {
	case o.encoding != "jpg" && o.encoding != "png":
		return cli.Usagef("-encoding %q: jpg or png", o.encoding)
	case o.size != 0 && (o.size < 32 || o.size > mostSide):
		return cli.Usagef("-size %d: 32 to %d, or 0 for sizes drawn at random", o.size, mostSide)
	case o.masks && o.size == 0:
		return cli.Usagef("-masks needs -size: the images of a Data layer must agree in size")
	}
	return nil
}

func writeObjects(ctx context.Context, j *datasetJob) error {
	if err := j.checkObjects(); err != nil {
		return err
	}
	if err := os.WriteFile(j.temporary(labelMapOutput), swproto.MarshalText(objectLabels()), 0o666); err != nil {
		return err
	}
	for _, p := range j.parts() {
		j.Log.Infof("Rendering %d %s images of objects, seed %d, into %s", p.n, p.name, j.seed, j.outputs[p.name+"_lmdb"].path)
		if err := writeObjectsPart(ctx, j, p); err != nil {
			return err
		}
	}
	return nil
}

// objectLabels is the label map. Label 0 is the background, under the name that SSD gives it.
func objectLabels() *caffepb.LabelMap {
	m := &caffepb.LabelMap{}
	add := func(name, display string) {
		m.Item = append(m.Item, &caffepb.LabelMapItem{Name: &name, Label: proto.Int32(int32(len(m.Item))), DisplayName: &display})
	}
	add("none_of_the_above", "background")
	for _, name := range shapes.ObjectClasses {
		add(name, name)
	}
	return m
}

// objectRecord is a rendered image, ready to be written.
type objectRecord struct {
	key     string
	values  [][]byte    // of the databases, in their order
	lists   [][2]string // a list's name and the image's line in it
	failure error
}

// writeObjectsPart renders a part's images on all processors and writes them in order.
func writeObjectsPart(ctx context.Context, j *datasetJob, p part) error {
	writers, err := openParts(j, p)
	for _, w := range writers {
		defer w.Abort() // does nothing after Close
	}
	if err != nil {
		return err
	}
	bar := cli.NewProgress(j.Stderr, p.n, p.name+" images")
	defer bar.Finish()
	lists := map[string]*bytes.Buffer{}
	err = inOrder(p.n, 256, func(i int) objectRecord { return j.renderObjects(p, i) }, func(i int, r objectRecord) error {
		bar.Add(1)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d %s images; nothing was left behind", i, p.n, p.name)
		}
		if r.failure != nil {
			return fmt.Errorf("%s image %d: %w", p.name, i, r.failure)
		}
		for _, l := range r.lists {
			if lists[l[0]] == nil {
				lists[l[0]] = &bytes.Buffer{}
			}
			lists[l[0]].WriteString(l[1])
		}
		for k, w := range writers {
			key := []byte(r.key)
			if k > 0 {
				key = key[:8] // of the pairs: the number alone
			}
			if err := w.Put(key, r.values[k]); err != nil {
				return err
			}
		}
		return nil
	})
	for _, w := range writers {
		if err == nil {
			err = w.Close()
		}
	}
	for name, text := range lists {
		if err == nil {
			err = os.WriteFile(filepath.Join(j.temporary(filesOutput), name), text.Bytes(), 0o666)
		}
	}
	return err
}

// openParts creates the databases of a part and, with -files, the folders of its files. The databases are returned with an error, too.
func openParts(j *datasetJob, p part) (writers []*lmdb.Writer, err error) {
	names := []string{"_lmdb"}
	if j.masks {
		names = append(names, "_images_lmdb", "_classes_lmdb")
	}
	for _, name := range names {
		w, err := lmdb.Create(j.temporary(p.name + name))
		if err != nil {
			return writers, err
		}
		writers = append(writers, w)
	}
	if !j.files {
		return writers, nil
	}
	for _, folder := range []string{"images", "masks", string(annotation.XML), string(annotation.JSON), string(annotation.Text)} {
		if err := os.MkdirAll(filepath.Join(j.temporary(filesOutput), folder), 0o777); err != nil {
			return writers, err
		}
	}
	return writers, nil
}

// renderObjects renders image i of a part and, with -files, writes its files. Several goroutines call it.
func (j *datasetJob) renderObjects(p part, i int) (r objectRecord) {
	picture := shapes.RenderPicture(j.seed, p.first+uint64(i), j.size)
	name := fmt.Sprintf("%s_%08d", p.name, i)
	file := "images/" + name + "." + j.encoding
	r.key = fmt.Sprintf("%08d_%s", i, file)
	im := &imageio.Image{Height: picture.Height, Width: picture.Width, Channels: 3, Pix: picture.Pixels}
	var encoded []byte
	if encoded, r.failure = encode(im, j.encoding); r.failure != nil {
		return r
	}
	described := describe(picture, filepath.Base(file))
	r.add(annotated(&caffepb.Datum{
		Channels: proto.Int32(3), Height: proto.Int32(int32(picture.Height)), Width: proto.Int32(int32(picture.Width)),
		Data: encoded, Label: proto.Int32(noLabel), Encoded: proto.Bool(true),
	}, described.Objects))
	if j.masks {
		r.add(planes(im))
		r.add(planes(&imageio.Image{Height: picture.Height, Width: picture.Width, Channels: 1, Pix: picture.Mask}))
	}
	if j.files && r.failure == nil {
		r.failure = j.writeFiles(&r, picture, described, file, name, encoded, p)
	}
	return r
}

// add marshals a record of a database.
func (r *objectRecord) add(m proto.Message) {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	r.values = append(r.values, value)
	r.failure = errors.Join(r.failure, err)
}

// planes is a Datum of an image's pixels.
func planes(im *imageio.Image) *caffepb.Datum {
	return &caffepb.Datum{
		Channels: proto.Int32(int32(im.Channels)), Height: proto.Int32(int32(im.Height)), Width: proto.Int32(int32(im.Width)),
		Data: im.Planes(), Label: proto.Int32(0),
	}
}

// describe returns the annotation of a picture, with the objects in a database's order.
func describe(p *shapes.Picture, file string) annotation.Picture {
	size := annotation.Size{Height: p.Height, Width: p.Width}
	var found annotation.Result
	for _, o := range p.Objects {
		found.Add("", o.Label, annotation.Corners{XMin: float32(o.X0), YMin: float32(o.Y0), XMax: float32(o.X1), YMax: float32(o.Y1)}, size, o.Difficult)
	}
	return annotation.Picture{File: file, Size: size, Objects: found.Objects, Names: func(label int) string { return shapes.ObjectClasses[label-1] }}
}

// writeFiles writes the image, its mask and its annotations, and notes the lines of the lists.
func (j *datasetJob) writeFiles(r *objectRecord, p *shapes.Picture, described annotation.Picture, file, name string, encoded []byte, part part) error {
	mask, err := encode(&imageio.Image{Height: p.Height, Width: p.Width, Channels: 1, Pix: p.Mask}, "png")
	if err != nil {
		return err
	}
	maskFile := "masks/" + name + ".png"
	files := map[string][]byte{file: encoded, maskFile: mask}
	r.lists = append(r.lists, [2]string{part.name + "_masks.txt", file + " " + maskFile + "\n"})
	for _, f := range annotation.Formats {
		text, err := described.Write(f)
		if err != nil {
			return err
		}
		path := string(f) + "/" + name + "." + string(f)
		files[path] = text
		r.lists = append(r.lists, [2]string{part.name + "_" + string(f) + ".txt", file + " " + path + "\n"})
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join(j.temporary(filesOutput), filepath.FromSlash(path)), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
