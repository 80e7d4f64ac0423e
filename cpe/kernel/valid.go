package kernel

import "fmt"

// least is a number of a shape and the least that it may be.
type least struct {
	name     string
	n, least int
}

// tooSmall names the first of a shape's numbers that is too small, nil if there is none.
func tooSmall(what fmt.Stringer, list ...least) error {
	for _, l := range list {
		if l.n < l.least {
			return fmt.Errorf("kernel: %v: %s is %d, it must be %d or more", what, l.name, l.n, l.least)
		}
	}
	return nil
}

// valid returns what is wrong with a product.
func (s GemmShape) valid() error {
	return tooSmall(s, least{"M", s.M, 0}, least{"N", s.N, 0}, least{"K", s.K, 0})
}

// valid returns what is wrong with a convolution.
func (s ConvShape) valid() error {
	n := len(s.In)
	if n == 0 || len(s.Kernel) != n || len(s.Stride) != n || len(s.Pad) != n || len(s.Dilation) != n {
		return fmt.Errorf("kernel: convolution %v: images, kernels, strides, padding and dilations must have as many axes, one or more", s)
	}
	if err := tooSmall(s, least{"N", s.N, 0}, least{"C", s.C, 1}, least{"Out", s.Out, 1}, least{"Group", s.Group, 1}); err != nil {
		return err
	}
	if s.C%s.Group != 0 || s.Out%s.Group != 0 {
		return fmt.Errorf("kernel: convolution %v: group %d does not divide %d and %d channels", s, s.Group, s.C, s.Out)
	}
	for i := range n {
		err := tooSmall(s, least{"In", s.In[i], 1}, least{"Kernel", s.Kernel[i], 1}, least{"Stride", s.Stride[i], 1},
			least{"Pad", s.Pad[i], 0}, least{"Dilation", s.Dilation[i], 1})
		if err != nil {
			return err
		}
		if extent, room := s.Dilation[i]*(s.Kernel[i]-1)+1, s.In[i]+2*s.Pad[i]; extent > room {
			return fmt.Errorf("kernel: convolution %v: a kernel's extent of %d is larger than the padded image's %d", s, extent, room)
		}
	}
	return nil
}

// pooled names a pooling in errors.
type pooled PoolShape

// String prints the shape.
func (s pooled) String() string {
	return fmt.Sprintf("pooling %dx%dx%dx%d -> %dx%d, window %dx%d stride %dx%d pad %dx%d", s.N, s.C, s.H, s.W, s.OH, s.OW, s.KH, s.KW, s.SH, s.SW, s.PH, s.PW)
}

// valid returns what is wrong with a pooling.
func (s PoolShape) valid() error {
	err := tooSmall(pooled(s), least{"N", s.N, 0}, least{"C", s.C, 0}, least{"H", s.H, 1}, least{"W", s.W, 1}, least{"KH", s.KH, 1}, least{"KW", s.KW, 1},
		least{"SH", s.SH, 1}, least{"SW", s.SW, 1}, least{"PH", s.PH, 0}, least{"PW", s.PW, 0}, least{"OH", s.OH, 1}, least{"OW", s.OW, 1})
	if err == nil && (s.PH >= s.KH || s.PW >= s.KW) {
		err = fmt.Errorf("kernel: %v: padding must be smaller than windows", pooled(s))
	}
	return err
}
