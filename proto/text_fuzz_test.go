package proto

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// differs says that protobuf-go's parser and ours, which follows C++, may judge a text differently: bytes that are not
// UTF-8, form feeds as white space, zero bytes, a sign before nan, a sign apart from inf or octal digits, and
// extensions, which the schema has none of.
func differs(text string) bool {
	spaced := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, odd := range []string{"nan", "- inf", "- 0", "\v", "\f", "\x00"} {
		if strings.Contains(spaced, odd) || strings.Contains(text, odd) {
			return true
		}
	}
	return !utf8.ValidString(text) || strings.Contains(text, "[") && strings.ContainsAny(text, "./")
}

// compareWithProtobuf parses a text with protobuf-go's parser too and demands the same verdict and the same message.
func compareWithProtobuf(t *testing.T, text string, empty proto.Message) {
	t.Helper()
	ours, theirs := empty, proto.Clone(empty)
	_, err := UnmarshalText("file", []byte(text), ours)
	theirErr := prototext.Unmarshal([]byte(text), theirs)
	if err != nil && theirErr == nil && stricter(err) {
		return
	}
	if (err == nil) != (theirErr == nil) {
		t.Errorf("%q: our error is\n%v\nprotobuf's is\n%v", text, err, theirErr)
	}
	if err == nil && !proto.Equal(ours, theirs) {
		t.Errorf("%q: ours is\n%v\nprotobuf's is\n%v", text, ours, theirs)
	}
}

// stricter says that all errors are of the kinds that C++ finds and protobuf-go does not: a number that is no value of
// its enum, and 1f for true.
func stricter(err error) bool {
	for _, e := range err.(Errors) {
		if !strings.Contains(e.Msg, "is not a value of") && !strings.Contains(e.Msg, "is not true or false") {
			return false
		}
	}
	return true
}

func FuzzUnmarshalText(f *testing.F) {
	for _, text := range acceptedTexts {
		f.Add(text)
	}
	for _, c := range readSections(f, "testdata/errors.txt") {
		f.Add(c.input)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if differs(text) {
			if _, err := UnmarshalText("file", []byte(text), &caffepb.NetParameter{}); err != nil {
				_ = err.Error()
			}
			return
		}
		compareWithProtobuf(t, text, &caffepb.NetParameter{})
	})
}

// TestMutatedTexts drops, doubles and exchanges tokens of known texts and compares verdicts with protobuf-go.
func TestMutatedTexts(t *testing.T) {
	var texts []string
	for _, c := range readSections(t, "testdata/errors.txt") {
		texts = append(texts, c.input)
	}
	texts = append(texts, acceptedTexts...)
	var words []string
	for _, text := range texts {
		words = append(words, tokens(text)...)
	}
	const seed, rounds = 1, 4000
	r := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		mutant := tokens(texts[r.IntN(len(texts))])
		for range 1 + r.IntN(3) {
			if len(mutant) == 0 {
				break
			}
			at := r.IntN(len(mutant))
			switch r.IntN(4) {
			case 0:
				mutant = slices.Delete(mutant, at, at+1)
			case 1:
				mutant = slices.Insert(mutant, at, mutant[at])
			case 2:
				mutant[at] = words[r.IntN(len(words))]
			default:
				other := r.IntN(len(mutant))
				mutant[at], mutant[other] = mutant[other], mutant[at]
			}
		}
		if text := strings.Join(mutant, []string{"", " ", "\n"}[r.IntN(3)]); !differs(text) {
			compareWithProtobuf(t, text, &caffepb.NetParameter{})
		}
	}
}

// tokens cuts a text where the lexer does.
func tokens(text string) []string {
	l := lexer{text: text, pos: Pos{1, 1}}
	var all []string
	for t := l.next(); t.kind != tokEOF; t = l.next() {
		all = append(all, t.text)
	}
	return all
}
