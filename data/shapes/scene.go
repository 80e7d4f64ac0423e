package shapes

import (
	"math"
	"math/rand/v2"
)

// SceneSize is the width and height of a scene.
const SceneSize = 64

// Scene is an image of one to four shapes, which may partly hide each other, with the class of every pixel: 0 for the ground,
// else one more than the index into Classes. A pixel on an edge belongs to the shape if the shape covers at least half of it.
type Scene struct {
	Pixels  [Channels * SceneSize * SceneSize]byte
	Classes [SceneSize * SceneSize]byte
}

// sceneShape is a shape in a scene. Later shapes lie over earlier ones.
type sceneShape struct {
	class   int
	place   frame
	texture texture
}

// RenderScene writes scene index of a seed to out.
func RenderScene(seed, index uint64, out *Scene) {
	rng := rand.New(rand.NewPCG(seed, index))
	back := newTexture(rng)
	placed := make([]sceneShape, 1+rng.IntN(4))
	for i := range placed {
		s := sceneShape{class: rng.IntN(len(classes)), place: newSceneFrame(rng), texture: newTexture(rng)}
		for distance(s.texture.main, back.main) < minContrast {
			s.texture = newTexture(rng)
		}
		placed[i] = s
	}
	noise := uniform(rng, 0.01, 0.09)
	for y := range SceneSize {
		for x := range SceneSize {
			value, class := back.at(x, y), 0
			for i := range placed {
				s := &placed[i]
				cover := s.place.cover(x, y, classes[s.class].inside)
				if cover == 0 {
					continue
				}
				var mixed colour
				mixed.add(1-cover, value)
				mixed.add(cover, s.texture.at(x, y))
				if value = mixed; cover >= 0.5 {
					class = s.class + 1
				}
			}
			out.Classes[y*SceneSize+x] = byte(class)
			for c, v := range value {
				out.Pixels[(c*SceneSize+y)*SceneSize+x] = byte(min(255, max(0, 255*(v+noise*rng.NormFloat64()))))
			}
		}
	}
}

// newSceneFrame places a shape of 16 to 36 pixels at random, its centre at least 8 pixels from the scene's edges.
func newSceneFrame(rng *rand.Rand) frame {
	var f frame
	f.sin, f.cos = math.Sincos(uniform(rng, -0.3, 0.3))
	f.rx = uniform(rng, 8, 18)
	f.ry = f.rx * uniform(rng, 0.8, 1.25)
	f.cx, f.cy = uniform(rng, 8, SceneSize-8), uniform(rng, 8, SceneSize-8)
	return f
}
