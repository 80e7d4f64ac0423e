package modelplot

import (
	"fmt"
	"image/color"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/figure"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// groupWidth and groupHeight are the size of a core group's picture in pixels.
const groupWidth, groupHeight = 760, 530

// Group draws a core group of a modelled machine as somebody who programs it sees it: the mesh with what joins its CPEs, the management core, and the
// way to main memory, each with its figures. A machine whose core groups are single cores is an error.
func Group(s cpe.Spec, format string) ([]byte, error) {
	if s.CPEs() == 1 {
		return nil, fmt.Errorf("machine %q has no mesh: each of its %d core groups is one core", s.Name, s.CoreGroups)
	}
	return figure.Render(format, groupWidth, groupHeight, func(c draw.Canvas) { (&groupPicture{c, s}).draw() })
}

// groupPicture draws on a canvas of which the point (0, 0) is the upper left corner.
type groupPicture struct {
	draw.Canvas
	spec cpe.Spec
}

func (p *groupPicture) at(x, y float64) vg.Point {
	return vg.Point{X: p.Min.X + vg.Points(x), Y: p.Max.Y - vg.Points(y)}
}

func (p *groupPicture) line(width float64, ink color.Color, points ...vg.Point) {
	p.StrokeLines(draw.LineStyle{Color: ink, Width: vg.Points(width)}, points)
}

// box draws a box with a text in it.
func (p *groupPicture) box(x, y, w, h float64, fill color.Color, text string) {
	corners := []vg.Point{p.at(x, y), p.at(x+w, y), p.at(x+w, y+h), p.at(x, y+h), p.at(x, y)}
	p.FillPolygon(fill, corners)
	p.line(1, color.Gray{Y: 60}, corners...)
	p.text(x+w/2, y+h/2, 8, draw.XCenter, text)
}

func (p *groupPicture) text(x, y, size float64, align draw.XAlignment, s string) {
	style := figure.Style(vg.Points(size))
	style.XAlign, style.YAlign = align, draw.YCenter
	p.FillText(style, p.at(x, y), s)
}

// The mesh's place and the distance of its CPEs.
const meshX, meshY, meshStep, cpeSide = 30, 60, 36, 24

func (p *groupPicture) draw() {
	s := &p.spec
	p.text(groupWidth/2*0.75, 18, 11, draw.XCenter, fmt.Sprintf("%s: one of %d core groups", s.Name, s.CoreGroups))
	end := float64(meshX + (s.Cols-1)*meshStep + cpeSide)
	bottom := float64(meshY + (s.Rows-1)*meshStep + cpeSide)
	p.joints(end, bottom)
	for row := range s.Rows {
		for col := range s.Cols {
			p.box(float64(meshX+col*meshStep), float64(meshY+row*meshStep), cpeSide, cpeSide, color.RGBA{214, 232, 246, 255}, "")
		}
	}
	p.text((meshX+end)/2, 42, 8, draw.XCenter, fmt.Sprintf("%d x %d CPEs of %.3g GHz, each with %.4g GFLOP/s and %d KB of LDM",
		s.Rows, s.Cols, s.ClockGHz, s.FlopsPerCycle*s.ClockGHz, s.LDMBytes>>10))
	right := end + 60
	p.box(right, meshY, 170, 50, color.RGBA{250, 229, 205, 255}, fmt.Sprintf("MPE: %.4g GFLOP/s", s.MPE.GFlops))
	p.box(right, meshY+105, 170, 70, color.RGBA{222, 240, 219, 255}, "")
	p.text(right+85, meshY+122, 8, draw.XCenter, "DMA")
	p.text(right+85, meshY+138, 8, draw.XCenter, fmt.Sprintf("up to %.4g GB/s", s.DMA.Peak()))
	p.text(right+85, meshY+152, 8, draw.XCenter, fmt.Sprintf("transactions of %d bytes", s.DMA.TransactionBytes))
	p.text(right+85, meshY+166, 8, draw.XCenter, p.requests())
	p.box(right, meshY+230, 170, 50, color.Gray{Y: 228}, fmt.Sprintf("main memory: %d GB", s.MemoryBytes>>30))
	ink := color.Gray{Y: 60}
	p.line(2.5, ink, p.at(end+8, meshY+140), p.at(right, meshY+140))
	p.line(2.5, ink, p.at(right+85, meshY+175), p.at(right+85, meshY+230))
	p.line(1, ink, p.at(right+85, meshY+50), p.at(right+85, meshY+105))
}

// requests says how DMA serves requests.
func (p *groupPicture) requests() string {
	if p.spec.DMA.Queued {
		return "all CPEs' requests wait in one queue"
	}
	return fmt.Sprintf("%d requests of a CPE under way", p.spec.DMA.MaxPending)
}

// joints draws what joins the CPEs, and says what it does.
func (p *groupPicture) joints(end, bottom float64) {
	s := &p.spec
	centre := func(i int) float64 { return float64(i*meshStep) + cpeSide/2 }
	if s.HasRMA() {
		b := s.RMA.Block
		for row := 0; row < s.Rows; row += b {
			for col := 0; col < s.Cols; col += b {
				w, h := float64((min(b, s.Cols-col)-1)*meshStep+cpeSide+8), float64((min(b, s.Rows-row)-1)*meshStep+cpeSide+8)
				p.box(float64(meshX+col*meshStep-4), float64(meshY+row*meshStep-4), w, h, color.RGBA{240, 240, 250, 255}, "")
			}
		}
		p.text(meshX, bottom+24, 8, draw.XLeft, fmt.Sprintf("A CPE writes to the LDM of any other: %g cycles inside a block of %d x %d,", s.RMA.NearCycles, b, b))
		p.text(meshX, bottom+38, 8, draw.XLeft, fmt.Sprintf("%g from corner to corner; then up to %.3g GB/s between two CPEs", s.RMA.FarCycles, s.RMA.BytesPerCycle*s.ClockGHz))
		return
	}
	bus := color.RGBA{190, 70, 60, 255}
	for i := range s.Rows {
		p.line(1.5, bus, p.at(meshX, meshY+centre(i)), p.at(end, meshY+centre(i)))
	}
	for i := range s.Cols {
		p.line(1.5, bus, p.at(meshX+centre(i), meshY), p.at(meshX+centre(i), bottom))
	}
	p.text(meshX, bottom+24, 8, draw.XLeft, fmt.Sprintf("Register buses along rows and columns: words of %d bytes, %g cycles,", s.Bus.WordBytes, s.Bus.LatencyCycles))
	p.text(meshX, bottom+38, 8, draw.XLeft, fmt.Sprintf("FIFOs of %d words; broadcasts of all CPEs together %.4g GB/s", s.Bus.FIFODepth, s.Bus.BroadcastGBps))
}
