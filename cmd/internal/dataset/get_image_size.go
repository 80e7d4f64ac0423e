package dataset

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// GetImageSize is the command get_image_size.
var GetImageSize = cli.Command{
	Name:     "get_image_size",
	Synopsis: "list the sizes of image files, as SSD's tool",
	Args:     "ROOTFOLDER/ LISTFILE OUTFILE [-name_id_file FILE]",
	Example:  "swcaffe get_image_size VOCdevkit/ test.txt test_name_size.txt",
	Words:    []string{"root", "list", "out"},
	Help: `Reads the images listed in LISTFILE, one "image annotation" per line, from ROOTFOLDER, and writes a line "name height width" for each to
OUTFILE. The name is the image's file name without folders and ending, or the number which the "name number" lines of -name_id_file give
this name. Height and width are those of the image as it is to be seen: an orientation that a camera has stored is applied. Damaged images that
are read as far as they go are named and counted.`,
	Do: cli.With(sizeFlags, getImageSize),
}

func sizeFlags(fs *flag.FlagSet, o *sizeOptions) {
	cli.StringVar(fs, &o.root, "root", "", "the `FOLDER` of the images", cli.Folder)
	cli.StringVar(fs, &o.list, "list", "", "the `FILE` of images and annotations", cli.AnyFile)
	cli.OutputVar(fs, &o.out, "out", "the `FILE` to write")
	cli.StringVar(fs, &o.ids, "name_id_file", "", "the `FILE` of names and numbers", cli.AnyFile)
}

type sizeOptions struct{ root, list, out, ids string }

// sizesAhead is the number of images in memory at a time.
const sizesAhead = 16

func getImageSize(e *cli.Env, o *sizeOptions) error {
	if o.out == "" {
		return cli.Usagef("need three names: swcaffe get_image_size ROOTFOLDER/ LISTFILE OUTFILE")
	}
	below := o.root
	if below != "" {
		below = strings.TrimSuffix(below, "/") + "/"
	}
	pairs, err := readPairs(o.list, below)
	if err != nil {
		return err
	}
	ids, err := o.readIDs(len(pairs))
	if err != nil {
		return err
	}
	var images []string
	for _, p := range pairs {
		images = append(images, filepath.Join(o.root, p.image))
	}
	if err := e.Reading("list", images); err != nil {
		return err
	}
	e.Log.Infof("A total of %d images.", len(pairs))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	text, err := cli.Interruptibly(ctx, func() ([]byte, error) { return o.sizes(ctx, e, pairs, ids) })
	if errors.Is(err, cli.ErrLeftAlone) {
		return fmt.Errorf("interrupted; %s is not written", o.out)
	}
	if err != nil {
		return err
	}
	return e.WriteFile(o.out, text)
}

// readIDs reads the numbers of names; nil without a file. The file must have as many names as there are images.
func (o *sizeOptions) readIDs(images int) (map[string]string, error) {
	if o.ids == "" {
		return nil, nil
	}
	lines, err := readPairs(o.ids, "")
	if err != nil {
		return nil, fmt.Errorf("-name_id_file: %w", err)
	}
	ids := map[string]string{}
	for _, l := range lines {
		if _, double := ids[l.image]; double {
			return nil, fmt.Errorf("-name_id_file %s: the name %q occurs twice", o.ids, l.image)
		}
		ids[l.image] = l.annotation
	}
	if len(ids) != images {
		return nil, fmt.Errorf("-name_id_file %s has %d names, the list %s has %d images", o.ids, len(ids), o.list, images)
	}
	return ids, nil
}

// sizedImage is an image's size, or why it has none.
type sizedImage struct {
	*imageio.Facts
	err error
}

// sizes returns the lines for all images, in their order.
func (o *sizeOptions) sizes(ctx context.Context, e *cli.Env, pairs []pair, ids map[string]string) ([]byte, error) {
	bar := cli.NewProgress(e.Stderr, len(pairs), "images")
	defer bar.Finish()
	var text bytes.Buffer
	turned, damaged := 0, 0
	err := inOrder(len(pairs), sizesAhead, func(i int) sizedImage {
		f, err := imageio.DescribeFile(filepath.Join(o.root, pairs[i].image))
		return sizedImage{f, err}
	}, func(i int, im sizedImage) error {
		bar.Add(1)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d images; %s is not written", i, len(pairs), o.out)
		}
		if im.err != nil {
			return im.err
		}
		name := strings.TrimSuffix(filepath.Base(pairs[i].image), filepath.Ext(pairs[i].image))
		if ids != nil {
			id, ok := ids[name]
			if !ok {
				return fmt.Errorf("-name_id_file %s has no name %q", o.ids, name)
			}
			name = id
		}
		fmt.Fprintf(&text, "%s %d %d\n", name, im.Height, im.Width)
		if im.Orientation >= 5 {
			turned++
		}
		if im.Repaired != "" {
			damaged++
			e.Log.Warnf("%s: the image is damaged and was read as far as it goes: %s", pairs[i].image, im.Repaired)
		}
		if n := i + 1; n%1000 == 0 || n == len(pairs) {
			e.Log.Infof("Processed %d files.", n)
		}
		return nil
	})
	if turned > 0 {
		e.Log.Infof("%d images are stored on their side: height and width are those of the upright image", turned)
	}
	if damaged > 0 {
		e.Log.Warnf("%d of %d images are damaged and were read as far as they go; they are named above", damaged, len(pairs))
	}
	return text.Bytes(), err
}
