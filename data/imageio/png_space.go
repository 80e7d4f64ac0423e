package imageio

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// pngSpace is the gamma of a PNG's values as libpng 1.6 gathers it from the chunks gAMA, sRGB and iCCP, in 100,000ths. libpng averages colours
// to grey in linear light if the gamma is known and not about 1.
type pngSpace struct {
	gamma    int  // 0: unknown
	fromGAMA bool // there was a chunk gAMA
	fromSRGB bool // there was a chunk sRGB or a profile that is known to be sRGB
	invalid  bool // chunks contradict each other; later ones count no more
	closed   bool // palette or pixels have begun: later ones count no more
	profiles int
}

// mostProfiles is how many chunks iCCP are looked into. A file has one.
const mostProfiles = 8

const srgbGamma = 45455

// take reads a chunk; ok is false if libpng ignores it.
func (s *pngSpace) take(name string, b []byte) (ok bool) {
	if s.closed || s.invalid {
		return false
	}
	switch name {
	case "gAMA":
		if len(b) != 4 {
			return false
		}
		g := int(binary.BigEndian.Uint32(b))
		if g < 16 || g > 625000000 || s.fromGAMA {
			s.invalid = true
			return false
		}
		if s.fromSRGB && significant(s.gamma*100000/g) {
			return false
		}
		s.gamma, s.fromGAMA = g, true
	case "sRGB":
		if len(b) != 1 || s.fromSRGB {
			return false
		}
		return s.srgb(int(b[0]))
	case "iCCP":
		if s.profiles++; s.profiles > mostProfiles {
			return false
		}
		if profile := pngProfile(b); isSRGB(profile) && !s.fromSRGB {
			return s.srgb(int(binary.BigEndian.Uint32(profile[64:])))
		}
	}
	return true
}

func (s *pngSpace) srgb(intent int) bool {
	if intent < 0 || intent > 3 {
		s.invalid = true
		return false
	}
	s.gamma, s.fromSRGB = srgbGamma, true
	return true
}

// pngProfile returns the colour profile in a chunk iCCP, which follows its name.
func pngProfile(b []byte) []byte {
	end := bytes.IndexByte(b[:min(len(b), 80)], 0)
	if end < 1 || end+2 > len(b) || b[end+1] != 0 {
		return nil
	}
	r, err := zlib.NewReader(bytes.NewReader(b[end+2:]))
	if err != nil {
		return nil
	}
	profile, err := io.ReadAll(io.LimitReader(r, 61000)) // no profile of isSRGB is longer
	if err != nil {
		return nil
	}
	return profile
}

// isSRGB reports whether a profile is one of those that libpng knows as sRGB, by length and CRC-32: the four of color.org and three of
// Hewlett-Packard and Microsoft.
func isSRGB(profile []byte) bool {
	type id struct {
		size int
		crc  uint32
	}
	return slices.Contains([]id{
		{3048, 0x3b8772b9}, {3052, 0x427ebb21}, {60988, 0x306fd8ae}, {60960, 0xbbef7812}, {3024, 0x5d5129ce}, {3144, 0x182ea552}, {3144, 0xf29e526d},
	}, id{len(profile), crc32.ChecksumIEEE(profile)})
}

// significant reports whether a gamma differs from 1 by more than 5 percent, which libpng neglects.
func significant(gamma int) bool { return gamma < 95000 || gamma > 105000 }

// grey converts B, G, R of 8 bits to grey. Pixels without colour stay as they are.
func (s *pngSpace) grey(r rows) rows {
	if s.gamma == 0 || !significant(s.gamma) {
		return r.gray(pngWeights)
	}
	linear, back := byteTable(inverse(s.gamma)), byteTable(s.gamma)
	from := make([]byte, r.width*3)
	write := func(y int, out []byte) {
		r.write(y, from)
		for i := range out {
			b, g, r := from[3*i], from[3*i+1], from[3*i+2]
			if out[i] = r; r != g || r != b {
				out[i] = back[(pngWeights.b*int32(linear[b])+pngWeights.g*int32(linear[g])+pngWeights.r*int32(linear[r])+1<<14)>>15]
			}
		}
	}
	to := r
	to.channels, to.write = 1, write
	return to
}

// inverse is 1 / gamma, rounded.
func inverse(gamma int) int { return int(math.Floor(1e10/float64(gamma) + 0.5)) }

// byteTable is v^gamma for v from 0 to 1, both in 255ths.
func byteTable(gamma int) *[256]byte {
	var table [256]byte
	for v := range table {
		table[v] = byte(v)
		if significant(gamma) {
			table[v] = byte(math.Floor(255*math.Pow(float64(v)/255, float64(gamma)*1e-5) + 0.5))
		}
	}
	return &table
}

// deepGrey returns a function that writes a row of 16-bit R, G, B as grey. libpng's tables of gamma are indexed by the upper bits of a value, 8
// to 11, as many as the file says are significant.
func (s *pngSpace) deepGrey(row func(y int) []byte, pitch, bits int) func(y int, out []byte) {
	w := pngWeights
	weigh := func(r, g, b uint16) uint16 {
		return uint16((uint32(w.r)*uint32(r) + uint32(w.g)*uint32(g) + uint32(w.b)*uint32(b) + 1<<14) >> 15)
	}
	grey := func(r, g, b uint16) uint16 { return weigh(r, g, b) }
	if s.gamma != 0 && significant(s.gamma) {
		shift := 5
		if bits > 0 && bits < 11 {
			shift = min(16-bits, 8)
		}
		linear, back, same := wordTable(inverse(s.gamma), shift), wordTable(s.gamma, shift), roundTable(shift)
		at := func(table []uint16, v uint16) uint16 { return table[v>>shift] }
		grey = func(r, g, b uint16) uint16 {
			if r == g && r == b {
				return at(same, r)
			}
			return at(back, weigh(at(linear, r), at(linear, g), at(linear, b)))
		}
	}
	return func(y int, out []byte) {
		in := row(y)
		for x := range out {
			p := in[x*pitch:]
			out[x] = byte(grey(binary.BigEndian.Uint16(p), binary.BigEndian.Uint16(p[2:]), binary.BigEndian.Uint16(p[4:])) >> 8)
		}
	}
}

// wordTable is v^gamma in 65535ths for v of 16 - shift bits.
func wordTable(gamma, shift int) []uint16 {
	most := 1<<(16-shift) - 1
	table := make([]uint16, most+1)
	for v := range table {
		if significant(gamma) {
			table[v] = uint16(math.Floor(65535*math.Pow(float64(v)*(1/float64(most)), float64(gamma)*1e-5) + 0.5))
		} else {
			table[v] = uint16((v*65535 + 1<<(15-shift)) / most)
		}
	}
	return table
}

// roundTable rounds v of 16 - shift bits to 8 bits, as 16 bits. libpng takes it for pixels without colour: from the file's gamma to the
// screen's, which is its inverse.
func roundTable(shift int) []uint16 {
	most := 1<<(16-shift) - 1
	table := make([]uint16, most+1)
	last := 0
	for i := range 255 {
		out := i * 257
		for bound := ((out+128)*most+32768)/65535 + 1; last < bound; last++ {
			table[last] = uint16(out)
		}
	}
	for ; last < len(table); last++ {
		table[last] = 65535
	}
	return table
}
