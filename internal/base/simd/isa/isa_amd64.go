package isa

import "golang.org/x/sys/cpu"

var (
	avx512 = Level{Name: "avx512", Lanes: 16}
	avx2   = Level{Name: "avx2", Lanes: 8}
)

// supported lists the levels of this computer, the best first.
func supported() []*Level {
	var list []*Level
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, &avx512)
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, &avx2)
	}
	return append(list, &plain)
}

// HasBFloat16 reports whether the processor multiplies pairs of bfloat16 values (AVX512_BF16), and permutes 16-bit words.
func HasBFloat16() bool { return cpu.X86.HasAVX512BF16 && cpu.X86.HasAVX512BW }

// HasBytes reports whether the processor adds up products of bytes (AVX512_VNNI).
func HasBytes() bool { return cpu.X86.HasAVX512VNNI }

// HasWords reports whether the processor adds up products of 16-bit integers in vectors of 512 bits (AVX512BW), as it does in those of AVX2.
func HasWords() bool { return cpu.X86.HasAVX512BW }
