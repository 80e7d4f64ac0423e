package dataset

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"google.golang.org/protobuf/proto"
)

// ConvertAnnoset is the command convert_annoset.
var ConvertAnnoset = cli.Command{
	Name:     "convert_annoset",
	Synopsis: "put image files with annotations into a database, as SSD's tool",
	Args:     "ROOTFOLDER/ LISTFILE DB_NAME -anno_type detection -label_type xml -label_map_file FILE [-encoded] [-shuffle] [-resize_height H -resize_width W]",
	Example:  "swcaffe convert_annoset -anno_type detection -label_map_file labelmap_voc.prototxt -encoded VOCdevkit/ trainval.txt trainval_lmdb",
	Words:    []string{"root", "list", "db"},
	Writes:   "db",
	Help: `Reads the images and annotations listed in LISTFILE, one "image annotation" per line, prepends ROOTFOLDER to both paths, and writes
AnnotatedDatum records with keys "00000000_image" into a new database for AnnotatedData layers. With -anno_type classification the lines are
"image label".

Annotations are XML as in PASCAL VOC, JSON as in MS COCO with a file for each image, or lines of text "label xmin ymin xmax ymax" in
pixels. -label_map_file names the classes of XML and JSON. An image without an annotation file has no objects. A file that is not an image
is skipped. Both cause a warning, and so do boxes outside the image.`,
	Do: cli.With(annosetFlags, convertAnnoset),
}

func annosetFlags(fs *flag.FlagSet, o *annosetOptions) {
	imagesetFlags(fs, &o.imagesetOptions)
	cli.StringVar(fs, &o.annoType, "anno_type", "classification", "classification or detection", cli.OneOf("classification", "detection"))
	cli.StringVar(fs, &o.labelType, "label_type", "xml", "the form of the annotations: xml, json or txt", cli.OneOf("xml", "json", "txt"))
	cli.StringVar(fs, &o.labelMap, "label_map_file", "", "the `FILE` with the names and labels of the classes, a LabelMap", cli.Prototxt)
	fs.BoolVar(&o.checkLabel, "check_label", false, "refuse a label map in which a name occurs twice")
	fs.IntVar(&o.minDim, "min_dim", 0, "enlarge images whose shorter side is less than this; 0: none")
	fs.IntVar(&o.maxDim, "max_dim", 0, "shrink images whose longer side is more than this; 0: none")
}

type annosetOptions struct {
	imagesetOptions
	annoType, labelType, labelMap string
	checkLabel                    bool
	reader                        annotation.Reader
}

func convertAnnoset(e *cli.Env, o *annosetOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	var images int
	var convert func(i int, near func()) convertedImage
	if o.annoType == "classification" {
		list, err := data.OpenImageList(o.list, o.root, o.shuffle, o.seed)
		if err != nil {
			return err
		}
		records := make([]data.Record, list.Len())
		for i := range records {
			if err := list.Next(&records[i]); err != nil {
				return err
			}
		}
		images, convert = len(records), func(i int, near func()) convertedImage { return o.record(&records[i], labelled, near) }
	} else {
		pairs, err := o.pairs()
		if err != nil {
			return err
		}
		images, convert = len(pairs), func(i int, near func()) convertedImage { return o.convertPair(pairs[i], near) }
	}
	e.Log.Infof("A total of %d images.", images)
	db, err := cli.CreateDatabase(o.db, o.backend)
	if err != nil {
		return err
	}
	n, err := db.Fill(func() (int, error) { return o.convertAll(e, db, images, convert) })
	if err == nil {
		e.Log.Infof("Processed %d files.", n)
	}
	return err
}

// check checks the options and reads the label map.
func (o *annosetOptions) check() error {
	switch {
	case o.db == "":
		return cli.Usagef("need three names: swcaffe convert_annoset ROOTFOLDER/ LISTFILE DB_NAME")
	case o.annoType != "classification" && o.annoType != "detection":
		return cli.Usagef("-anno_type %q: classification or detection", o.annoType)
	case o.minDim < 0 || o.maxDim < 0 || o.minDim > 0 && o.maxDim > 0 && o.minDim > o.maxDim:
		return cli.Usagef("-min_dim %d -max_dim %d: they must not be negative, nor the first above the second", o.minDim, o.maxDim)
	case (o.minDim > 0 || o.maxDim > 0) && (o.width != 0 || o.height != 0):
		return cli.Usagef("-min_dim and -max_dim keep the aspect ratio; -resize_width and -resize_height cannot be given with them")
	}
	if err := o.imagesetOptions.check(); err != nil || o.annoType == "classification" {
		return err
	}
	var err error
	if o.reader.Format, err = annotation.ParseFormat(o.labelType); err != nil {
		return cli.Usagef("-label_type: %w", err)
	}
	if o.labelMap == "" {
		if o.reader.Format == annotation.Text {
			return nil
		}
		return cli.Usagef("-label_map_file is missing: annotations of the form %s name classes, which it maps to labels", o.labelType)
	}
	m, err := annotation.ReadLabelMap(o.labelMap)
	if err != nil {
		return err
	}
	o.reader.Labels, err = m.Labels(o.checkLabel)
	return err
}

// pair is an image file and its annotation file.
type pair struct{ image, annotation string }

// pairs reads the list and shuffles it if asked.
func (o *annosetOptions) pairs() ([]pair, error) {
	pairs, err := readPairs(o.list, o.root)
	if err == nil && o.shuffle {
		r := rand.New(rand.NewPCG(o.seed, 0))
		r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	}
	return pairs, err
}

// mostList limits the bytes of a list, so that an endless device is an error.
const mostList = 1 << 30

// readPairs reads a list of "image annotation" lines. The last blank separates the two, unless the only way to cut the line into two files below root is
// another.
func readPairs(file, root string) (pairs []pair, err error) {
	text, err := regular.ReadText(file, mostList)
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		blank := strings.LastIndexAny(line, " \t")
		if blank < 0 {
			return nil, fmt.Errorf("list %s:%d: %q is not an image, a space and an annotation or label", file, n, line)
		}
		if files := regular.Paths(root, line, 2); len(files) == 2 {
			pairs = append(pairs, pair{files[0], files[1]})
			continue
		}
		pairs = append(pairs, pair{strings.TrimRight(line[:blank], " \t"), line[blank+1:]})
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("list %s is empty", file)
	}
	return pairs, nil
}

// labelled is the annotate of an image with a label: there is nothing behind its Datum.
func labelled(annotation.Size) (end []byte, warnings []string, err error) { return nil, nil, nil }

// convertPair turns an image file and its annotation into a record.
func (o *annosetOptions) convertPair(p pair, near func()) convertedImage {
	r := &data.Record{Name: o.root + p.image, Label: noLabel}
	return o.record(r, func(size annotation.Size) (end []byte, warnings []string, err error) {
		path := o.root + p.annotation
		var found annotation.Result
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			found.Warnings = []string{fmt.Sprintf("%s: the annotation %s does not exist; the image has no objects", r.Name, path)}
		} else if found, err = o.reader.Read(path, size); err != nil {
			return nil, nil, err
		}
		end, err = proto.MarshalOptions{Deterministic: true}.Marshal(annotated(nil, found.Objects))
		return end, found.Warnings, err
	}, near)
}

// resizeWithin scales an image so that its shorter side has minDim pixels or more, and its longer side, which counts more,
// maxDim or less.
func (o *imagesetOptions) resizeWithin(p *imageio.Picture) (*imageio.Picture, bool, error) {
	height, width := p.Size()
	short, long := min(height, width), max(height, width)
	factor := float32(1)
	if o.minDim > 0 && short < o.minDim {
		factor = float32(o.minDim) / float32(short)
	}
	if o.maxDim > 0 && math.Trunc(float64(factor*float32(long))) > float64(o.maxDim) {
		factor = float32(o.maxDim) / float32(long)
	}
	if factor == 1 {
		return p, false, nil
	}
	im, err := p.Image()
	if err != nil {
		return nil, false, err
	}
	defer im.Recycle()
	scaled, err := im.ResizeBy(float64(factor))
	if err != nil {
		return nil, false, err
	}
	return scaled.Picture(), true, nil
}
