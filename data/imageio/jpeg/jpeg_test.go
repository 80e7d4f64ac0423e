package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	gojpeg "image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/internal/base/simd/vpixel"
	"github.com/swcaffe/swcaffe/internal/testkit/costtest"
)

// pnm decodes a file to a PGM or PPM, as djpeg does.
func pnm(file []byte) ([]byte, *Decoder, error) {
	d, err := Open(file)
	if err == nil {
		err = d.Decode()
	}
	if err != nil {
		return nil, nil, err
	}
	kind, channels := 6, 3
	if d.Space == Grey {
		kind, channels = 5, 1
	}
	out := fmt.Appendf(nil, "P%d\n%d %d\n255\n", kind, d.Width, d.Height)
	rows, row := d.Rows(), make([]byte, channels*d.Width)
	for y := range d.Height {
		if channels == 1 {
			rows.First(y, row)
		} else {
			rows.BGR(y, row)
			for x := 0; x < len(row); x += 3 {
				row[x], row[x+2] = row[x+2], row[x]
			}
		}
		out = append(out, row...)
	}
	if err := rows.End(); err != nil {
		return nil, nil, err
	}
	return out, d, nil
}

// drawn returns the arguments of cjpeg for a random way of coding, and a random image.
func drawn(r *rand.Rand) (args []string, image []byte) {
	pick := func(list string) string { words := strings.Fields(list); return words[r.IntN(len(words))] }
	width, height, channels := 1+r.IntN(100), 1+r.IntN(100), 3
	args = []string{"-quality", pick("1 10 30 75 90 100")}
	if r.IntN(4) == 0 {
		channels = 1
	} else if r.IntN(4) > 0 {
		args = append(args, "-sample", pick("1x1 2x1 1x2 2x2 4x1 4x2 1x4 3x1 2x4 3x2 2x2,1x2 2x2,2x1 1x1,1x1,2x2"))
	}
	for _, flag := range []string{"-progressive", "-optimize", "-arithmetic"} {
		if r.IntN(3) == 0 {
			args = append(args, flag)
		}
	}
	if channels == 3 && r.IntN(10) == 0 {
		args = append(args, pick("-grayscale -rgb"))
	}
	if r.IntN(3) == 0 {
		args = append(args, "-restart", pick("1 2 1B 3B"))
	}
	image = fmt.Appendf(nil, "P%d\n%d %d\n255\n", 5+channels/3, width, height)
	noise := []float64{0, 5, 300}[r.IntN(3)]
	var slopes [6]float64
	for i := range slopes {
		slopes[i] = 8*r.Float64() - 4
	}
	for y := range height {
		for x := range width {
			for c := range channels {
				v := 128 + slopes[c]*float64(x) + slopes[3+c]*float64(y) + noise*r.NormFloat64()
				image = append(image, byte(max(0, min(v, 255))))
			}
		}
	}
	return args, image
}

// damaged returns a copy of a file with a few bytes changed or missing. Most of the damage is behind the headers.
func damaged(r *rand.Rand, file []byte) []byte {
	file = bytes.Clone(file)
	for range 1 + r.IntN(3) {
		at := 2 + r.IntN(max(1, len(file)-2))
		if scan := bytes.Index(file, []byte("\xff\xda")); scan > 0 && r.IntN(5) > 0 {
			at = scan + r.IntN(len(file)-scan)
		}
		switch r.IntN(4) {
		case 0:
			file = file[:max(3, at)]
		case 1:
			file = append(file[:at], file[min(len(file), at+1+r.IntN(20)):]...)
		case 2:
			file[min(at, len(file)-1)] = 0xff
		default:
			file[min(at, len(file)-1)] = byte(r.Uint32())
		}
	}
	return file
}

// run pipes bytes through a program. Exit code 2 is djpeg's for warnings.
func run(t *testing.T, env []string, in []byte, path string, args ...string) (out []byte, ok bool) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out, err == nil || exit.ExitCode() == 2
}

// libjpeg20 returns the environment in which djpeg uses libjpeg-turbo 2.0.6, which Caffe has, if scripts/bench/caffe.sh has unpacked it; else nil.
func libjpeg20(t *testing.T) []string {
	t.Helper()
	lib, err := os.ReadFile("../../../build/bench/caffe/root/usr/lib/x86_64-linux-gnu/libjpeg.so.62")
	if err != nil {
		return nil
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libjpeg.so.62"), lib, 0o777); err != nil {
		t.Fatal(err)
	}
	return []string{"LD_LIBRARY_PATH=" + dir}
}

// asked returns the number that an environment variable asks for.
func asked(t *testing.T, variable string, missing int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return missing
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// TestAgainstLibjpeg compares random images, whole and damaged, with libjpeg-turbo: the same files are read, to the same pixels. Versions
// from 2.1 on estimate unknown coefficients by another method than 2.0, so that images that need it are left out where that is missing. For a code that
// a table of a sequential scan lacks, 2.0 takes a symbol or 0, as its buffer holds much or little of the file; 2.1 takes 0 always, as is done here.
// Where ff is twice before 0, all versions leave coefficients of a first attempt in the block, if their buffer holds much of the file; here
// the first of these bytes is skipped.
// scripts/djpeg.sh compares 30,000 files of another seed: SWCAFFE_JPEGS images, each whole and damaged once and twice.
func TestAgainstLibjpeg(t *testing.T) {
	cjpeg, err1 := exec.LookPath("cjpeg")
	djpeg, err2 := exec.LookPath("djpeg")
	if err1 != nil || err2 != nil {
		t.Skip("cjpeg or djpeg is not installed (Debian package libjpeg-turbo-progs): not compared with libjpeg")
	}
	old := libjpeg20(t)
	r := rand.New(rand.NewPCG(uint64(asked(t, "SWCAFFE_SEED", 20261127)), 1))
	files := 120
	if testing.Short() {
		files = 40
	}
	files = asked(t, "SWCAFFE_JPEGS", files)
	read, repaired, refused, smoothed, other := 0, 0, 0, 0, 0
	for i := range files {
		args, picture := drawn(r)
		file, ok := run(t, nil, picture, cjpeg, args...)
		if !ok {
			continue // fractions between sampling factors, too many blocks
		}
		for k := range 3 {
			if k > 0 {
				file = damaged(r, file)
			}
			got, d, err := pnm(file)
			use := old
			if err == nil && !d.progressive && slices.Contains(d.Warnings, badCode) {
				use = nil
			}
			want, ok := run(t, use, file, djpeg, "-pnm")
			if err == nil && d.progressive && d.smoothable() {
				if old == nil {
					continue
				}
				smoothed++
			}
			switch {
			case errors.Is(err, ErrDense):
			case ok != (err == nil):
				t.Errorf("image %d, %v, damaged %d times: libjpeg reads it: %t; here: %v", i, args, k, ok, err)
				keep(t, file)
			case err != nil:
				refused++
			case !bytes.Equal(got, want) && !d.progressive && bytes.Contains(file, []byte{0xff, 0xff, 0}):
				other++
			case !bytes.Equal(got, want):
				t.Errorf("image %d, %v, damaged %d times: other pixels (%v)", i, args, k, d.Warnings)
				keep(t, file)
			case len(d.Warnings) > 0:
				repaired++
			default:
				read++
			}
			if k == 0 && err == nil && len(d.Warnings) > 0 {
				t.Errorf("image %d, %v: warnings of a whole file: %v", i, args, d.Warnings)
			}
		}
	}
	t.Logf("%d read, %d repaired, %d refused, %d otherwise; %d of them smoothed", read, repaired, refused, other, smoothed)
	if read < files/2 || repaired < files/4 || refused < files/10 || other > files/100 {
		t.Errorf("%d read, %d repaired, %d refused: the test covers too little", read, repaired, refused)
	}
}

// keep writes a file that a test fails for.
func keep(t *testing.T, file []byte) {
	t.Helper()
	f, err := os.CreateTemp("", "failed*.jpg")
	if err == nil {
		_, err = f.Write(file)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Log(f.Name())
}

// TestSmoothing: progressive files cut behind their first scans, and what libjpeg-turbo 2.0.6 made of them.
func TestSmoothing(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jpg")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(path, ".jpg") + ".pnm")
		if err != nil {
			t.Fatal(err)
		}
		got, d, err := pnm(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other pixels than libjpeg's (error %v)", path, err)
		} else if !d.progressive || d.arithmetic {
			t.Errorf("%s: is not progressive", path)
		}
	}
}

// TestUpsampling: values by hand. Between rows, a sample is 3/4 of the nearest one and 1/4 of the other, rounded down in upper rows and up in
// lower ones. Between columns, left samples round down and right ones up.
func TestUpsampling(t *testing.T) {
	plane := func(width, height int, samples ...byte) *component {
		c := &component{h: 1, v: 1, width: width, height: height, stride: 1, units: 1, samples: make([]byte, held*64+vpixel.Padding)}
		for i, s := range samples {
			c.samples[i/width*8+i%width] = s
		}
		return c
	}
	u := (&Decoder{components: []component{*plane(1, 3, 0, 2, 5)}, maxH: 1, maxV: 2}).newUpsampler(0)
	for y, want := range []byte{0, 1, 1, 3, 4, 5} { // 0, 0.5, 1.5, 2.75, 4.25, 5
		if got := u.row(y)[0]; got != want {
			t.Errorf("row %d has %d, want %d", y, got, want)
		}
	}
	u = (&Decoder{components: []component{*plane(3, 1, 0, 2, 5)}, maxH: 2, maxV: 1}).newUpsampler(0)
	if got := u.row(0); !bytes.Equal(got, []byte{0, 1, 1, 3, 4, 5}) { // 0, 0.5, 1.5, 2.75, 4.25, 5
		t.Errorf("columns %v", got)
	}
	u = (&Decoder{components: []component{*plane(2, 1, 3, 7)}, maxH: 2, maxV: 1}).newUpsampler(0)
	if got := u.row(0); !bytes.Equal(got, []byte{3, 3, 7, 7}) { // two columns are repeated
		t.Errorf("columns %v", got)
	}
}

// BenchmarkDecode decodes a photograph-like image of 480x360, beside Go's own decoder.
func BenchmarkDecode(b *testing.B) {
	im := image.NewRGBA(image.Rect(0, 0, 480, 360))
	r := rand.New(rand.NewPCG(5, 6))
	for y := range 360 {
		for x := range 480 {
			v := 100 + 60*math.Sin(float64(x)/17)*math.Cos(float64(y)/23) + 12*r.NormFloat64()
			im.SetRGBA(x, y, color.RGBA{byte(max(0, min(v, 255))), byte(max(0, min(255-v, 255))), byte(x / 2), 255})
		}
	}
	var file bytes.Buffer
	if err := gojpeg.Encode(&file, im, nil); err != nil {
		b.Fatal(err)
	}
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			d, err := Open(file.Bytes())
			if err == nil {
				err = d.Decode()
			}
			if err != nil {
				b.Fatal(err)
			}
			rows, row := d.Rows(), make([]byte, 3*d.Width)
			for y := range d.Height {
				rows.BGR(y, row)
			}
			if err := rows.End(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Go's planes", func(b *testing.B) {
		for b.Loop() {
			if _, err := gojpeg.Decode(bytes.NewReader(file.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// FuzzDecode: no file makes the decoder panic, or read more than it may.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	files, err := filepath.Glob("testdata/*.jpg")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		file, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
		f.Add(damaged(r, file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var err error
		var d *Decoder
		took, allocated := costtest.Of(func() {
			if d, err = Open(file); err != nil {
				return
			}
			if err = d.Decode(); err != nil || d.Space == CMYK || d.Space == YCCK {
				return
			}
			rows, row := d.Rows(), make([]byte, 3*d.Width)
			for y := range d.Height {
				rows.BGR(y, row)
			}
			err = rows.End()
		})
		const most, fixed = 3 * time.Second, 4 << 20 // of code that counts what it covers (TestDense holds the second), with what the fuzzer allocates meanwhile
		if d != nil && len(file) < 1<<20 && (took > most || allocated > 20*float64(d.Width*d.Height)+fixed) {
			t.Errorf("%d x %d pixels in %d bytes: %v, %.0f bytes allocated (error %v)", d.Width, d.Height, len(file), took, allocated, err)
		}
	})
}
