package infer

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// imageRun runs a net on images, batch by batch.
type imageRun struct {
	files []string
	batch int                                                   // the most images at a time
	load  func(k int, file string) (repaired string, err error) // puts an image into item k of the batch
	run   func(files []string) error                            // runs the net on the batch, whose items are these images
}

// do runs all batches. An image among several that cannot be read is named and left out, and counted. Damaged ones that are read are named and counted too.
func (r *imageRun) do(e *cli.Env) (unread int, err error) {
	bar := cli.NewProgress(e.Stderr, len(r.files), "images")
	defer bar.Finish()
	part, damaged := make([]string, 0, r.batch), 0
	for i, file := range r.files {
		bar.Add(1)
		switch repaired, err := r.load(len(part), file); {
		case err == nil:
			if part = append(part, file); repaired != "" {
				damaged++
				fmt.Fprintf(e.Stderr, "%s: the image is damaged and was read as far as it goes: %s\n", file, repaired)
			}
		case len(r.files) == 1:
			return 1, err
		default:
			unread++
			fmt.Fprintf(e.Stderr, "Left out: %v\n", cli.NoImages(file, err))
		}
		if len(part) == r.batch || i == len(r.files)-1 && len(part) > 0 {
			if err := r.run(part); err != nil {
				return unread, err
			}
			part = part[:0]
		}
	}
	if damaged > 0 && len(r.files) > 1 {
		fmt.Fprintf(e.Stderr, "%d of %d images are damaged and were read as far as they go; they are named above\n", damaged, len(r.files))
	}
	return unread, nil
}

// unreadError returns the error of a run that left images out, nil if it left out none.
func (r *imageRun) unreadError(unread int) error {
	if unread == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d images could not be read; they are named above and left out", unread, len(r.files))
}
