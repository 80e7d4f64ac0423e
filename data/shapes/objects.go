package shapes

import (
	"math"
	"math/rand/v2"
	"sync"
)

// ObjectClasses are the names of the classes in Pictures, in the order of their labels, which begin with 1.
var ObjectClasses = Classes()[:6]

// Picture is an image of any size with one to six objects at any place. Objects differ in size by a factor of five, may hide parts of each
// other, and may reach beyond the image. Pixels are interleaved: blue, green, red. Mask has the label of every pixel, 0 for the ground.
type Picture struct {
	Height, Width int
	Pixels        []byte
	Mask          []byte
	Objects       []PictureObject
}

// PictureObject is an object of a Picture. Its box holds the pixels of which it covers at least half, also where other objects hide them: x from
// X0 to X1-1, y from Y0 to Y1-1. It is Difficult if less than 40 % of its area is to be seen.
type PictureObject struct {
	Label          int
	X0, Y0, X1, Y1 int
	Difficult      bool
	area           float64 // of the whole object, in pixels
}

// Sides of pictures whose size is drawn, and radii of their objects, as a share of the shorter side.
const (
	minSide, maxSide     = 96, 160
	minRadius, maxRadius = 0.06, 0.3
)

// RenderPicture renders picture index of a seed. side is its height and width; 0 draws both.
func RenderPicture(seed, index uint64, side int) *Picture {
	rng := rand.New(rand.NewPCG(seed, index))
	p := &Picture{Height: minSide + rng.IntN(maxSide-minSide+1), Width: minSide + rng.IntN(maxSide-minSide+1)}
	if side > 0 {
		p.Height, p.Width = side, side
	}
	p.Pixels, p.Mask = make([]byte, 3*p.Height*p.Width), make([]byte, p.Height*p.Width)
	values := make([]colour, p.Height*p.Width)
	back := newTexture(rng)
	for i := range values {
		values[i] = back.at(i%p.Width, i/p.Width)
	}
	for range 1 + rng.IntN(6) {
		p.place(rng, values, &back)
	}
	noise := uniform(rng, 0.01, 0.06)
	for i, value := range values {
		for c, v := range value {
			p.Pixels[3*i+c] = byte(min(255, max(0, 255*(v+noise*rng.NormFloat64()))))
		}
	}
	p.finish()
	return p
}

// finish counts the pixels of each object and turns the mask's numbers into labels.
func (p *Picture) finish() {
	var seen [256]float64
	for i, number := range p.Mask {
		if number > 0 {
			seen[number]++
			p.Mask[i] = byte(p.Objects[number-1].Label)
		}
	}
	for i := range p.Objects {
		p.Objects[i].Difficult = seen[i+1] < 0.4*p.Objects[i].area
	}
}

// place adds an object at a random place where it hides no other object's middle. If a few places do not suit, it adds none.
func (p *Picture) place(rng *rand.Rand, values []colour, back *texture) {
	class := rng.IntN(len(ObjectClasses))
	look := newTexture(rng)
	for distance(look.main, back.main) < minContrast {
		look = newTexture(rng)
	}
	for range 8 {
		f := p.newFrame(rng)
		o := PictureObject{Label: class + 1, area: f.rx * f.ry * areas()[class]}
		o.X0, o.Y0, o.X1, o.Y1 = p.extent(f, classes[class].inside)
		if min(o.X1-o.X0, o.Y1-o.Y0) < 5 || p.crowded(o) {
			continue
		}
		p.Objects = append(p.Objects, o)
		p.draw(f, class, &look, values)
		return
	}
}

// newFrame draws the place of an object. Its centre is within the picture.
func (p *Picture) newFrame(rng *rand.Rand) frame {
	var f frame
	f.sin, f.cos = math.Sincos(uniform(rng, -0.3, 0.3))
	f.rx = float64(min(p.Height, p.Width)) * minRadius * math.Pow(maxRadius/minRadius, rng.Float64())
	f.ry = f.rx * uniform(rng, 0.75, 1.33)
	f.cx, f.cy = uniform(rng, 0, float64(p.Width)), uniform(rng, 0, float64(p.Height))
	return f
}

// areas returns the area of each class in its own frame, counted on a grid.
var areas = sync.OnceValue(func() (all [len(classes)]float64) {
	const n = 200
	for c := range classes {
		for i := range n * n {
			if classes[c].inside(3*(float64(i%n)+0.5)/n-1.5, 3*(float64(i/n)+0.5)/n-1.5) {
				all[c] += 9.0 / (n * n)
			}
		}
	}
	return all
})

// region returns the part of the picture that an object in a frame may touch.
func (p *Picture) region(f frame) (x0, y0, x1, y1 int) {
	r := 1.5*max(f.rx, f.ry) + 1
	return max(0, int(f.cx-r)), max(0, int(f.cy-r)), min(p.Width, int(f.cx+r)+1), min(p.Height, int(f.cy+r)+1)
}

// extent returns the box of the pixels of which an object covers at least half.
func (p *Picture) extent(f frame, inside func(x, y float64) bool) (x0, y0, x1, y1 int) {
	left, top, right, bottom := p.region(f)
	x0, y0 = p.Width, p.Height
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			if f.cover(x, y, inside) >= 0.5 {
				x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1)
			}
		}
	}
	return x0, y0, x1, y1
}

// crowded reports whether a new object would cover more than half of an older one's box.
func (p *Picture) crowded(o PictureObject) bool {
	for _, old := range p.Objects {
		w, h := min(o.X1, old.X1)-max(o.X0, old.X0), min(o.Y1, old.Y1)-max(o.Y0, old.Y0)
		if w > 0 && h > 0 && 2*w*h > (old.X1-old.X0)*(old.Y1-old.Y0) {
			return true
		}
	}
	return false
}

// draw draws the last object over the others. Until the picture is complete, the mask holds the numbers of objects, from 1.
func (p *Picture) draw(f frame, class int, look *texture, values []colour) {
	left, top, right, bottom := p.region(f)
	number := byte(len(p.Objects))
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			share := f.cover(x, y, classes[class].inside)
			if share == 0 {
				continue
			}
			i := y*p.Width + x
			var mixed colour
			mixed.add(1-share, values[i])
			mixed.add(share, look.at(x, y))
			values[i] = mixed
			if share >= 0.5 {
				p.Mask[i] = number
			}
		}
	}
}
