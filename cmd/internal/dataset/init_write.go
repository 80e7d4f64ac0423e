package dataset

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// trainingPlan is a training to prepare: its images, its net, and the counts of its solver.
type trainingPlan struct {
	*initOptions
	*survey
	base        *base
	net         *zooNet // of the base
	channels    int
	input       int // height and width of the net's input
	train, test []data.Record
	schedule
}

// schedule are the counts of a training.
type schedule struct {
	batch, testBatch, testIter             int
	maxIter, testInterval, display, backup int
}

// plan reads the images and decides all numbers of the training.
func (o *initOptions) plan(e *cli.Env) (*trainingPlan, error) {
	s, err := o.surveyImages(e)
	if err != nil {
		return nil, err
	}
	p := &trainingPlan{initOptions: o, survey: s, channels: 3}
	if p.base, err = o.baseFor(e, s.side, len(s.classes)); err != nil {
		return nil, err
	}
	p.net = &p.base.zooNet
	if o.gray || s.gray && p.base.channels == 0 || p.base.channels == 1 {
		p.channels = 1
	}
	if err := p.chooseSize(); err != nil {
		return nil, err
	}
	p.train, p.test = s.split(o.testShare, o.seed)
	p.schedule = newSchedule(len(p.train), len(p.test), o.iterations, p.net)
	if o.weights != "" {
		return p, p.finetune(e)
	}
	return p, nil
}

// chooseSize sets the size of images in the databases and that of the net's input.
func (p *trainingPlan) chooseSize() error {
	o, fixed := p.initOptions, p.base.channels > 0 // the input of a file's net is as the file says
	if fixed && p.channels != p.base.channels {
		return cli.Usagef("-gray: the input of %s has %d channels", o.net, p.base.channels)
	}
	if fixed && o.crop != 0 && o.crop != p.net.size {
		return cli.Usagef("-crop %d: the input of %s has height and width %d", o.crop, o.net, p.net.size)
	}
	if o.size == 0 {
		o.size = max(p.net.size, o.crop)
	}
	if fixed && o.size != p.net.size {
		o.crop = p.net.size
	}
	if o.crop > o.size {
		return cli.Usagef("-crop %d: must be at most -size, %d", o.crop, o.size)
	}
	if p.input = o.size; o.crop > 0 {
		p.input = o.crop
	}
	return nil
}

// newSchedule returns the counts for a number of images. Small sets get small batches, and more epochs.
func newSchedule(train, test, iterations int, net *zooNet) (s schedule) {
	const leastIterations = 500
	s.batch = max(1, min(net.batch, train/8))
	s.testBatch = testBatch(test, net.testBatch)
	s.testIter = (test + s.testBatch - 1) / s.testBatch
	s.maxIter = iterations
	if s.maxIter == 0 {
		whole := math.Ceil(float64(net.epochs) * float64(train) / float64(s.batch) / 100)
		s.maxIter = int(min(math.MaxInt32, max(leastIterations, 100*whole)))
	}
	s.testInterval = max(1, s.maxIter/10)
	s.display = max(1, s.maxIter/50)
	s.backup = max(1, s.maxIter/2)
	return s
}

// testBatch returns the batch size up to most, at least the half of it, with which whole batches exceed n images by least, the largest of several. An image that is
// tested twice would count twice.
func testBatch(n, most int) int {
	if n <= most {
		return n
	}
	best, excess := most, most
	for b := most; b >= most/2; b-- {
		if over := (n+b-1)/b*b - n; over < excess {
			best, excess = b, over
		}
	}
	return best
}

// write writes all outputs into a folder. Paths inside them are those of the final folder.
func (p *trainingPlan) write(e *cli.Env, folder string) error {
	if err := p.writeDatabase(e, p.train, folder, trainDB); err != nil {
		return err
	}
	if err := p.writeDatabase(e, p.test, folder, testDB); err != nil {
		return err
	}
	mean, _, err := averageDatabase(e, filepath.Join(folder, trainDB), "lmdb")
	if err != nil {
		return err
	}
	if err := swproto.WriteBinary(filepath.Join(folder, meanFile), meanProto(mean)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, labelsFile), []byte(strings.Join(p.classes, "\n")+"\n"), 0o666); err != nil {
		return err
	}
	return p.writeNets(folder)
}

// writeDatabase writes a part's images, all of one size.
func (p *trainingPlan) writeDatabase(e *cli.Env, part []data.Record, folder, name string) error {
	e.Log.Infof("Writing %d images into %s", len(part), filepath.Join(p.out, name))
	images := &imagesetOptions{list: p.images, gray: p.channels == 1, width: p.size, height: p.size}
	if err := images.checkResized(); err != nil {
		return err
	}
	db, err := cli.CreateDatabase(filepath.Join(folder, name), "lmdb")
	if err != nil {
		return err
	}
	db.OnlyWhole = true // init keeps its folder only as a whole
	n, err := db.Fill(func() (int, error) {
		return images.convertAll(e, db, len(part), func(i int, near func()) convertedImage {
			im := images.convert(&part[i], near)
			im.name = fmt.Sprint(p.classes[part[i].Label], "/", filepath.Base(part[i].Name))
			return im
		})
	})
	if err == nil && n != len(part) {
		err = fmt.Errorf("%d of %d images could be read a moment ago and cannot be read now", len(part)-n, len(part))
	}
	return err
}

// tell prints what was made and the commands that follow.
func (p *trainingPlan) tell(e *cli.Env) {
	in := func(name string) string { return filepath.Join(p.out, name) }
	weights := in(p.net.name) + "_best.caffemodel"
	colour := "colour"
	if p.channels == 1 {
		colour = "grey"
	}
	fmt.Fprintf(e.Stdout, "%s: %d training and %d test images of %d classes, %s, %dx%d, for the net %s.\n", p.out, len(p.train), len(p.test), len(p.classes), colour, p.size, p.size, p.net.name)
	if p.unreadable > 0 {
		fmt.Fprintf(e.Stdout, "%d files could not be read as images and are left out; the log names them.\n", p.unreadable)
	}
	if p.copies > 0 {
		fmt.Fprintf(e.Stdout, "%d files show the same picture as another one of their class and are left out; the log names them.\n", p.copies)
	}
	if p.contradictory > 0 {
		fmt.Fprintf(e.Stdout, "%d files show a picture that is in several classes and are left out; the log names them.\n", p.contradictory)
	}
	classify := []string{"classify", in(deployFile), weights, in(netFile), in(labelsFile), p.test[0].Name}
	fmt.Fprintf(e.Stdout, "\nTrain, test, and classify an image:\n\n  %s\n  %s\n  %s\n",
		e.CommandLine("train", "-solver", in(solverFile)),
		e.CommandLine("test", "-model", in(netFile), "-weights", weights, "-iterations", fmt.Sprint(p.testIter)),
		e.CommandLine(classify...))
}
