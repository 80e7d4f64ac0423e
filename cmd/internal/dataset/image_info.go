package dataset

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// ImageInfo is the command image_info.
var ImageInfo = cli.Command{
	Name:     "image_info",
	Synopsis: "say how image files are read: format, size, orientation, damage",
	Args:     "IMAGE|FOLDER... [-csv FILE] [-json FILE]",
	Example:  "swcaffe image_info photos -csv photos.csv",
	Help: `Reads image files, also all those below folders, as the other commands read them, and prints a line for each: the format, height x width as the
image is to be seen, channels x bits of a stored value, the orientation if it is stored on its side or mirrored, and what damage was passed over.
The exit status is 1 if there are files that cannot be read; they are named, and the others are read all the same.`,
	Words: []string{"image..."},
	Do:    cli.With(infoFlags, imageInfo),
}

type infoOptions struct {
	images    []string
	csv, json string
}

func infoFlags(fs *flag.FlagSet, o *infoOptions) {
	cli.AppendVar(fs, &o.images, "image", "an image `FILE`, or a folder of images; may be given several times", cli.AnyFile)
	cli.OutputVar(fs, &o.csv, "csv", "write the facts to `FILE` as CSV; -: to standard output, alone")
	cli.OutputVar(fs, &o.json, "json", "write the facts to `FILE` as JSON (docs/json.md)")
}

// infoReport is the JSON file of image_info.
type infoReport struct {
	Images   []infoRow    `json:"images"`
	Unread   []unreadFile `json:"unread"`
	Repaired int          `json:"repaired"` // images with damage that was passed over
	Turned   int          `json:"turned"`   // images that are not stored upright
}

type infoRow struct {
	File string `json:"file"`
	*imageio.Facts
}

type unreadFile struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

func imageInfo(e *cli.Env, o *infoOptions) error {
	if len(o.images) == 0 {
		return cli.Usagef("need images or folders: swcaffe image_info photos")
	}
	files, err := e.ImageFiles("image", o.images)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := readFacts(ctx, e, files)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Tables, "%d images: %d not stored upright, %d repaired, %d unread\n", len(files), report.Turned, report.Repaired, len(report.Unread))
	if err := e.WriteJSON(o.json, report); err != nil {
		return err
	}
	if o.csv != "" {
		if err := e.CreateFile(o.csv, report.writeCSV); err != nil {
			return err
		}
	}
	if n := len(report.Unread); n > 0 {
		return fmt.Errorf("%d of %d files could not be read; they are named above", n, len(files))
	}
	return nil
}

// readFacts reads all files, and prints a line for each.
func readFacts(ctx context.Context, e *cli.Env, files []string) (*infoReport, error) {
	r := &infoReport{Images: []infoRow{}, Unread: []unreadFile{}}
	bar := cli.NewProgress(e.Stderr, len(files), "images")
	defer bar.Finish()
	type facts struct {
		*imageio.Facts
		err error
	}
	err := inOrder(len(files), sizesAhead, func(i int) facts {
		f, err := imageio.DescribeFile(files[i])
		if err != nil {
			err = cli.NoImages(files[i], err)
		}
		return facts{f, err}
	}, func(i int, f facts) error {
		bar.Add(1)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted after %d of %d images", i, len(files))
		case f.err != nil:
			r.Unread = append(r.Unread, unreadFile{files[i], f.err.Error()})
			fmt.Fprintf(e.Stderr, "Unread: %v\n", f.err)
			return nil
		}
		r.Images = append(r.Images, infoRow{files[i], f.Facts})
		fmt.Fprintf(e.Tables, "%s: %s %dx%d, %dx%d bits", files[i], f.Format, f.Height, f.Width, f.Channels, f.Bits)
		if f.Orientation > 1 {
			r.Turned++
			fmt.Fprintf(e.Tables, ", orientation %d of %dx%d", f.Orientation, f.StoredHeight, f.StoredWidth)
		}
		if f.Repaired != "" {
			r.Repaired++
			fmt.Fprintf(e.Tables, ", repaired: %s", f.Repaired)
		}
		fmt.Fprintln(e.Tables)
		return nil
	})
	return r, err
}

// writeCSV writes a line for each image that was read.
func (r *infoReport) writeCSV(to io.Writer) error {
	w := csv.NewWriter(to)
	w.Write([]string{"file", "format", "height", "width", "stored_height", "stored_width", "orientation", "channels", "bits", "repaired"})
	for _, f := range r.Images {
		row := []string{f.File, f.Format}
		for _, v := range []int{f.Height, f.Width, f.StoredHeight, f.StoredWidth, f.Orientation, f.Channels, f.Bits} {
			row = append(row, strconv.Itoa(v))
		}
		w.Write(append(row, f.Repaired))
	}
	w.Flush()
	return w.Error()
}
