package dataset

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/internal/app/cli"
)

// pixelSum identifies an image by its size and pixels, whatever its file's name and format.
type pixelSum [sha256.Size]byte

func sumOf(im *imageio.Image) pixelSum {
	h := sha256.New()
	fmt.Fprintln(h, im.Height, im.Width, im.Channels)
	h.Write(im.Pix)
	return pixelSum(h.Sum(nil))
}

// withoutCopies returns the images of which there is one, and one of each set of copies in the same class, so that no test image is also
// trained on. Of copies in several classes none remains, since their class is unknown. The log names what is left out.
func (s *survey) withoutCopies(e *cli.Env, images []data.Record, sums []pixelSum) (kept []data.Record) {
	same := map[pixelSum][]data.Record{}
	for i, im := range images {
		same[sums[i]] = append(same[sums[i]], im)
	}
	for i, im := range images {
		copies := same[sums[i]]
		switch first := copies[0]; {
		case s.contradict(copies):
			s.contradictory++
			if im.Name == first.Name {
				e.Log.Warnf("Left out: the same picture is in several classes: %s", s.list(copies))
			}
		case im.Name != first.Name:
			s.copies++
			e.Log.Warnf("Left out: %s shows the same picture as %s", im.Name, first.Name)
		default:
			kept = append(kept, im)
		}
	}
	return kept
}

// contradict reports whether copies are of different classes.
func (s *survey) contradict(copies []data.Record) bool {
	for _, c := range copies {
		if c.Label != copies[0].Label {
			return true
		}
	}
	return false
}

func (s *survey) list(copies []data.Record) string {
	var names []string
	for _, c := range copies {
		names = append(names, fmt.Sprintf("%s (%s)", c.Name, s.classes[c.Label]))
	}
	return strings.Join(names, ", ")
}
