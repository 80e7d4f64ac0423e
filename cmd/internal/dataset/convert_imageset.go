package dataset

import (
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/lmdb"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// ConvertImageset is the command convert_imageset.
var ConvertImageset = cli.Command{
	Name:     "convert_imageset",
	Synopsis: "put image files into a database",
	Args:     "ROOTFOLDER/ LISTFILE DB_NAME [-gray] [-shuffle] [-resize_height H -resize_width W] [-encoded]",
	Example:  "swcaffe convert_imageset -resize_height 256 -resize_width 256 -shuffle images/ train.txt train_lmdb",
	Words:    []string{"root", "list", "db"},
	Writes:   "db",
	Help: `Reads the images listed in LISTFILE, one "path label" per line, prepends ROOTFOLDER to each path, and writes Datum records with keys
"00000000_path" into a new database. A file that is no image is skipped with a warning, as in Caffe.

After an error or an interrupt, the records until then are kept as DB_NAME.incomplete, which data layers refuse as long as the file INCOMPLETE
is in that folder.`,
	Do: cli.With(imagesetFlags, convertImageset),
}

func imagesetFlags(fs *flag.FlagSet, o *imagesetOptions) {
	cli.StringVar(fs, &o.root, "root", "", "the `FOLDER/` put before each path", cli.Folder)
	cli.StringVar(fs, &o.list, "list", "", "the `FILE` of paths and labels", cli.AnyFile)
	cli.StringVar(fs, &o.db, "db", "", "the `DATABASE` to write", cli.Folder)
	fs.BoolVar(&o.gray, "gray", false, "treat images as grey")
	fs.BoolVar(&o.shuffle, "shuffle", false, "shuffle the order of the images")
	fs.Uint64Var(&o.seed, "seed", 1, "the seed of the shuffling")
	cli.StringVar(fs, &o.backend, "backend", "lmdb", "the kind of database: lmdb or leveldb", cli.OneOf("lmdb", "leveldb"))
	fs.IntVar(&o.width, "resize_width", 0, "width to resize images to; 0: as they are")
	fs.IntVar(&o.height, "resize_height", 0, "height to resize images to; 0: as they are")
	fs.BoolVar(&o.checkSize, "check_size", false, "require all images to be of the first one's size")
	fs.BoolVar(&o.strict, "strict", false, "leave damaged images out too, which otherwise are read as far as they go")
	fs.BoolVar(&o.encoded, "encoded", false, "store image files instead of pixels")
	cli.StringVar(fs, &o.encodeType, "encode_type", "", "store image files of this type: png or jpg; empty: as they are", cli.OneOf("png", "jpg"))
}

type imagesetOptions struct {
	root, list, db, backend, encodeType string
	gray, shuffle, checkSize            bool
	encoded, strict                     bool
	width, height                       int
	minDim, maxDim                      int // of convert_annoset
	seed                                uint64
	first                               [3]int // size of the first image
	memory                              recordMemory
}

func convertImageset(e *cli.Env, o *imagesetOptions) error {
	if o.db == "" {
		return cli.Usagef("need three names: swcaffe convert_imageset ROOTFOLDER/ LISTFILE DB_NAME")
	}
	if err := o.check(); err != nil {
		return err
	}
	list, err := data.OpenImageList(o.list, o.root, o.shuffle, o.seed)
	if err != nil {
		return err
	}
	e.Log.Infof("A total of %d images.", list.Len())
	db, err := cli.CreateDatabase(o.db, o.backend)
	if err != nil {
		return err
	}
	records := make([]data.Record, list.Len())
	for i := range records {
		if err := list.Next(&records[i]); err != nil {
			return db.Publish(err)
		}
	}
	n, err := db.Fill(func() (int, error) {
		return o.convertAll(e, db, len(records), func(i int, near func()) convertedImage { return o.convert(&records[i], near) })
	})
	if err == nil {
		e.Log.Infof("Processed %d files.", n)
	}
	return err
}

// kindOf is the kind of image file that an ending stands for, in whatever spelling.
func kindOf(ending string) string {
	return strings.Replace(strings.ToLower(strings.TrimPrefix(ending, ".")), "jpeg", "jpg", 1)
}

// check checks the options for images.
func (o *imagesetOptions) check() error {
	given := o.encodeType
	o.encodeType = kindOf(given)
	switch {
	case o.width < 0 || o.height < 0 || (o.width == 0) != (o.height == 0):
		return cli.Usagef("-resize_width %d -resize_height %d: both must be given, or none", o.width, o.height)
	case o.encodeType != "" && o.encodeType != "png" && o.encodeType != "jpg":
		return cli.Usagef("-encode_type %q: png or jpg", given)
	}
	return o.checkResized()
}

// resizedBytes is the number of bytes in a resized image, 0 if images are not resized.
func (o *imagesetOptions) resizedBytes() float64 {
	channels := 3.
	if o.gray {
		channels = 1
	}
	return channels * float64(o.height) * float64(o.width)
}

// copies is the number of copies of an image in memory during its conversion: pixels, and with -encoded a file.
const copies = 2

// atATime is the number of resized images that fit into half of the memory.
func (o *imagesetOptions) atATime() int {
	return int(max(1, min(math.MaxInt32, pages.Memory()/2/copies/max(1, o.resizedBytes()))))
}

// checkResized checks that a resized image fits into a Datum and into memory.
func (o *imagesetOptions) checkResized() error {
	bytes := o.resizedBytes()
	if bytes > mostDatum {
		return cli.Usagef("-resize_height %d -resize_width %d: an image would have %.3g bytes, a Datum holds %d", o.height, o.width, bytes, mostDatum)
	}
	if err := pages.Room(copies * bytes); err != nil {
		return fmt.Errorf("-resize_height %d -resize_width %d: %w", o.height, o.width, err)
	}
	return nil
}

// mostDatum is the longest Datum: Caffe's limit on protobuf messages, minus room for the other fields.
const mostDatum = math.MaxInt32 - 64

// convertAll converts the images of a list on all processors and writes them into the database in the order of the list. Of large ones, one a processor and
// the one that is written are in memory.
func (o *imagesetOptions) convertAll(e *cli.Env, db *cli.Database, images int, convert func(i int, near func()) convertedImage) (n int, err error) {
	bar := cli.NewProgress(e.Stderr, images, "images")
	defer bar.Finish()
	defer o.memory.release()
	repaired := 0
	err = inOrderNear(images, o.atATime(), convert, func(i int, im convertedImage) error {
		bar.Add(1)
		for _, w := range im.warnings {
			e.Log.Warn(w)
		}
		defer o.memory.values.put(im.value)
		if im.unusable != nil {
			e.Log.Warnf("Skipped: %v", im.unusable)
			return nil
		}
		if im.repaired != "" && o.strict {
			e.Log.Warnf("Skipped: %s: the image is damaged: %s", im.name, im.repaired)
			return nil
		}
		if im.repaired != "" {
			repaired++
			e.Log.Warnf("%s: the image is damaged and was read as far as it goes: %s", im.name, im.repaired)
		}
		if im.err != nil {
			return im.err
		}
		if err := o.checkSame(im.size, im.name); err != nil {
			return err
		}
		key := fmt.Appendf(nil, "%08d_%s", i, strings.TrimPrefix(im.name, o.root))
		if len(key) > lmdb.MaxKeySize { // the number alone tells it from the other keys
			e.Log.Warnf("%s: the path is too long for a key: its first %d bytes are the key's", im.name, lmdb.MaxKeySize-len("12345678_"))
			key = key[:lmdb.MaxKeySize]
		}
		if err := db.Put(key, im.value); err != nil {
			return fmt.Errorf("%s: %w", im.name, err)
		}
		if n++; n%1000 == 0 {
			e.Log.Infof("Processed %d files.", n)
		}
		return nil
	})
	if repaired > 0 {
		e.Log.Warnf("%d of %d images are damaged and were read as far as they go; they are named above", repaired, images)
	}
	if err == nil && n == 0 {
		err = fmt.Errorf("none of the %d files of %s is an image", images, o.list)
	}
	return n, err
}

// checkSame compares an image's size with the first one's.
func (o *imagesetOptions) checkSame(size [3]int, name string) error {
	if o.first == ([3]int{}) {
		o.first = size
	}
	if o.checkSize && size != o.first {
		return fmt.Errorf("%s: the image is %v (channels, height, width), the first one was %v", name, size, o.first)
	}
	return nil
}
