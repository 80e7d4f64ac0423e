package proto

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// TestNumberForms: of all texts of up to four of some characters, the ones that match the text format's grammar are numbers, and no others.
func TestNumberForms(t *testing.T) {
	integer := regexp.MustCompile(`^-?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)$`)
	decimal := regexp.MustCompile(`^-?(([1-9][0-9]*|0)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[fF]?$`)
	var extend func(s string)
	extend = func(s string) {
		if _, err := parseInt(s, 64); (err == nil) != integer.MatchString(s) {
			t.Errorf("integer %q: %v", s, err)
		}
		if _, err := parseFloat(s); (err == nil) != decimal.MatchString(s) {
			t.Errorf("float %q: %v", s, err)
		}
		if len(s) < 4 {
			for _, c := range "0189.-+efx_bop" {
				extend(s + string(c))
			}
		}
	}
	extend("")
	for _, s := range []string{"inf", "-Infinity", "NaN"} {
		if _, err := parseFloat(s); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []string{"+inf", "inff", "nanf", "infinityf", "--1"} {
		if _, err := parseFloat(s); err == nil {
			t.Errorf("%q is a number", s)
		}
	}
}

// TestFloatsAreRoundedThroughDoubles: the values that protoc 3.21 gives.
func TestFloatsAreRoundedThroughDoubles(t *testing.T) {
	for text, bits := range map[string]uint32{
		"1.00000005960464477540": 0x3f800000, // just above 1+2^-24, the middle between two floats, which is even as a double
		"1.00000017881393432616": 0x3f800002, // just below the next middle
		"7.038531e-26":           0x15ae43fe,
		"3.4028235677973366e38":  0x7f7fffff,
		"3.4028235677973369e38":  0x7f800000,
		"-3.4028235677973366e38": 0xff7fffff,
		"1e400":                  0x7f800000,
		"-1e39f":                 0xff800000,
		"1e-46":                  0,
		"7.1e-46":                1,
		"-0":                     0x80000000,
		"nan":                    0x7fc00000,
		"-nan":                   0xffc00000,
	} {
		m := &caffepb.PowerParameter{}
		if _, err := UnmarshalText("net", []byte("shift: "+text), m); err != nil {
			t.Fatal(err)
		}
		if got := math.Float32bits(m.GetShift()); got != bits {
			t.Errorf("%s is read as %08x, want %08x", text, got, bits)
		}
	}
}

// TestFloatsAsProtoc compares random numbers, many close to the middle of two floats, with what protoc makes of them.
func TestFloatsAsProtoc(t *testing.T) {
	if _, err := exec.LookPath("protoc"); err != nil {
		t.Skip("needs protoc")
	}
	const seed, numbers = 1, 20000
	r := rand.New(rand.NewPCG(seed, 0))
	var text strings.Builder
	for range numbers {
		fmt.Fprintf(&text, "data: %s\n", decimal(r))
	}
	ours, theirs := &caffepb.BlobProto{}, &caffepb.BlobProto{}
	if _, err := UnmarshalText("blob", []byte(text.String()), ours); err != nil {
		t.Fatal(err)
	}
	encode := exec.Command("protoc", "--encode=caffe.BlobProto", "caffe.proto")
	encode.Stdin = strings.NewReader(text.String())
	var problems bytes.Buffer
	encode.Stderr = &problems
	binary, err := encode.Output()
	if err != nil {
		t.Fatalf("protoc: %v\n%s", err, problems.String())
	}
	if err := proto.Unmarshal(binary, theirs); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	for i, v := range ours.Data {
		if math.Float32bits(v) != math.Float32bits(theirs.Data[i]) {
			t.Errorf("%s: read as %08x, protoc gives %08x", lines[i], math.Float32bits(v), math.Float32bits(theirs.Data[i]))
		}
	}
}

// decimal returns the text of a random number: of any float's size or beyond, or less than 2^-50 of itself from the middle of two floats.
func decimal(r *rand.Rand) string {
	bits := r.Uint32()
	if r.IntN(8) == 0 {
		bits &= 0x80ffffff // small and denormal
	}
	v := float64(math.Float32frombits(bits))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("%d.%de%d", r.IntN(10), r.Uint64(), r.IntN(800)-400)
	}
	if r.IntN(4) > 0 {
		v = (v + float64(math.Float32frombits(bits^1))) / 2
		v *= 1 + float64(r.IntN(3)-1)*0x1p-53
	}
	s := strconv.FormatFloat(v, "eg"[r.IntN(2)], 5+r.IntN(25), 64)
	return strings.Replace(s, "e+", []string{"e", "E+", "e+"}[r.IntN(3)], 1) + []string{"", "f", "F"}[r.IntN(3)]
}
