package augment

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/data/imageio"
)

// rainbow is an image of many colours.
func rainbow() *imageio.Image {
	im := imageio.New(8, 8, 3)
	for i := range im.Pix {
		im.Pix[i] = byte(37*i + i/7)
	}
	return im
}

// TestDistort counts, over many draws, how often each change happens, and checks its range.
func TestDistort(t *testing.T) {
	const n = 2000
	gray := imageio.New(1, 1, 3)
	gray.Pix[0], gray.Pix[1], gray.Pix[2] = 100, 100, 100
	coloured := imageio.New(1, 1, 3)
	coloured.Pix[0], coloured.Pix[1], coloured.Pix[2] = 40, 80, 120
	for _, c := range []struct {
		text           string
		im             *imageio.Image
		lowest, raises byte // of channel 2
	}{
		{"brightness_prob: 0.25 brightness_delta: 20", gray, 80, 120},
		{"contrast_prob: 0.25 contrast_lower: 0.5 contrast_upper: 1.5", gray, 50, 150},
		{"saturation_prob: 0.25 saturation_lower: 0.5 saturation_upper: 1.5", coloured, 120, 120},
		{"hue_prob: 0.25 hue_delta: 18", coloured, 112, 120},
		{"random_order_prob: 0.25", coloured, 40, 120},
	} {
		a := augmenter(t, "distort_param { "+c.text+" }")
		changed, lowest, highest := 0, byte(255), byte(0)
		for k := range uint64(n) {
			im, err := a.applyDistort(c.im, NewDraws(1, k))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(im.Pix, c.im.Pix) {
				changed++
			}
			lowest, highest = min(lowest, im.Pix[2]), max(highest, im.Pix[2])
		}
		// A sixth of the orders changes nothing; small changes of the other kinds round to none.
		if changed < n*18/100 || changed > n*28/100 {
			t.Errorf("%s: %d of %d images changed", c.text, changed, n)
		}
		if lowest < c.lowest || lowest > c.lowest+3 || highest > c.raises || highest < c.raises-3 {
			t.Errorf("%s: values %d to %d, want %d to %d", c.text, lowest, highest, c.lowest, c.raises)
		}
	}
}

// TestOrders: all six orders of channels come up, about equally often, and contrast comes before and behind saturation.
func TestOrders(t *testing.T) {
	a := augmenter(t, "distort_param { random_order_prob: 1 }")
	im := imageio.New(1, 1, 3)
	im.Pix[1], im.Pix[2] = 1, 2
	counts := map[string]int{}
	for k := range uint64(1200) {
		got, err := a.applyDistort(im, NewDraws(2, k))
		if err != nil {
			t.Fatal(err)
		}
		counts[fmt.Sprint(got.Pix)]++
	}
	for order, n := range counts {
		if n < 140 || n > 260 {
			t.Errorf("order %s: %d of 1200", order, n)
		}
	}
	if len(counts) != 6 {
		t.Errorf("orders %v", counts)
	}
	both := augmenter(t, "distort_param { contrast_prob: 1 contrast_lower: 2 contrast_upper: 2 saturation_prob: 1 saturation_lower: 1.5 saturation_upper: 1.5 }")
	bright := rainbow()
	before := bright.Scaled(-1, 2, 0).ToHSV().Scaled(1, 1.5, 0).FromHSV()
	behind := bright.ToHSV().Scaled(1, 1.5, 0).FromHSV().Scaled(-1, 2, 0)
	first := 0
	for k := range uint64(400) {
		got, err := both.applyDistort(bright, NewDraws(3, k))
		switch {
		case err != nil:
			t.Fatal(err)
		case bytes.Equal(got.Pix, before.Pix):
			first++
		case !bytes.Equal(got.Pix, behind.Pix):
			t.Fatal("the contrast is neither before nor behind the saturation")
		}
	}
	if bytes.Equal(before.Pix, behind.Pix) || first < 150 || first > 250 {
		t.Errorf("contrast is first in %d of 400 images", first)
	}
}

// TestNoise: the supported kinds, on values by hand.
func TestNoise(t *testing.T) {
	im := imageio.New(3, 3, 3)
	for i := range im.Pix {
		im.Pix[i] = byte(9 * i)
	}
	for text, want := range map[string]func(i int) byte{
		"inverse: true":     func(i int) byte { return byte(255 - 9*i) },
		"posterize: true":   func(i int) byte { return [...]byte{32, 96, 160, 224}[9*i/64] },
		"decolorize: true":  func(i int) byte { return byte(9 * (3*(i/3) + 1) * 1) },
		"convert_to_hsv: 1": func(i int) byte { return im.ToHSV().Pix[i] },
		"erode: true": func(i int) byte {
			return byte(9 * (i - [...]int{0, 0, 0, 3, 3, 3, 3, 3, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}[i]))
		},
	} {
		got, err := augmenter(t, "noise_param { "+text+" }").applyNoise(im, NewDraws(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Pix {
			w := want(i)
			if d := int(v) - int(w); d != 0 && !(strings.HasPrefix(text, "decolorize") && d >= -9 && d <= 9) {
				t.Errorf("%s: value %d is %d, want %d", text, i, v, w)
			}
		}
	}
	salted, err := augmenter(t, "noise_param { saltpepper: true saltpepper_param { fraction: 0.5 value: 250 value: 251 value: 252 } }").applyNoise(imageio.New(20, 20, 3), NewDraws(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	grains := 0
	for i := 0; i < len(salted.Pix); i += 3 {
		switch p := salted.Pix[i : i+3]; {
		case slices.Equal(p, []byte{250, 251, 252}):
			grains++
		case !slices.Equal(p, []byte{0, 0, 0}):
			t.Fatalf("pixel %v", p)
		}
	}
	if grains < 130 || grains > 190 { // 200 draws of 400 places hit about 157
		t.Errorf("%d of 400 pixels are salt", grains)
	}
}

// TestPad: the ways to fill the margins, on one row.
func TestPad(t *testing.T) {
	im := imageio.New(1, 3, 1)
	im.Pix[0], im.Pix[1], im.Pix[2] = 1, 2, 3
	for text, want := range map[string][]byte{
		"pad_value: 9": {9, 9, 9, 1, 2, 3, 9, 9, 9, 9}, "": {0, 0, 0, 1, 2, 3, 0, 0, 0, 0},
		"pad_mode: MIRRORED": {2, 3, 2, 1, 2, 3, 2, 1, 2, 3}, "pad_mode: REPEAT_NEAREST": {1, 1, 1, 1, 2, 3, 3, 3, 3, 3},
	} {
		a := augmenter(t, "resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: 1 width: 10 "+text+" }")
		got, err := a.applyResize(im, NewDraws(1, 1))
		if err != nil || !slices.Equal(got.Pix, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestRefused: bad parameters are named.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"noise_param { hist_eq: true }": "noise_param: hist_eq is not supported", "noise_param { jpeg: 50 }": "jpeg is not supported",
		"noise_param { saltpepper: true }": "value is missing", "resize_param { height: 5 }": "resize_param: height 5 and width 0",
		"resize_param { height: 5 width: 5 prob: 0.5 }": "prob 0.5 is not supported", "expand_param { max_expand_ratio: 0.5 }": "max_expand_ratio 0.5",
		"expand_param { max_expand_ratio: 4 } mean_file: 'm'":  "expand_param fills the image with mean_value",
		"distort_param { contrast_prob: 1 contrast_lower: 2 }": "distort_param: contrast: the bounds 2 and 0", "distort_param { hue_prob: 1 hue_delta: -3 }": "hue: the bounds 0 and -3",
		"resize_param { height: 5 width: 5 height_scale: 3 }":                                         "height_scale and width_scale",
		"resize_param { height: 5 width: 5 prob: 0.5 } resize_param { height: 6 width: 6 prob: 0.4 }": "prob of the 2 resize_param must add up to 1, the sum is 0.9",
		"resize_param { height: 5 width: 5 prob: 2 } resize_param { height: 6 width: 6 prob: -1 }":    "prob must be between 0 and 1, that of number 0 is 2",
		"resize_param { height: 5 width: 5 prob: 0.5 } resize_param { height: 6 prob: 0.5 }":          "height 6 and width 0",
	} {
		if _, err := New(transformation(t, text), nil); err == nil || !strings.Contains(err.Error(), "transform_param: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	a := augmenter(t, "distort_param { hue_prob: 1 hue_delta: 3 }")
	if _, _, _, err := a.Apply(imageio.New(2, 2, 1), nil, NewDraws(1, 1)); err == nil || !strings.Contains(err.Error(), "3 channels, it has 1") {
		t.Errorf("a grey image: %v", err)
	}
	a = augmenter(t, "resize_param { resize_mode: FIT_LARGE_SIZE_AND_PAD height: 5 width: 5 }")
	if _, _, _, err := a.Apply(imageio.New(1, 100, 3), nil, NewDraws(1, 1)); err == nil || !strings.Contains(err.Error(), "would get height 0 and width 5") {
		t.Errorf("a very wide image: %v", err)
	}
}
