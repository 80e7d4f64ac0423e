package characters

import (
	"strings"
	"testing"
)

func TestCodes(t *testing.T) {
	seen := map[int]bool{}
	for c := range 256 {
		code, ok := Code(byte(c))
		if want := c == '\n' || c >= 32 && c < 127; ok != want {
			t.Errorf("character %d: %v, want %v", c, ok, want)
		}
		if !ok {
			continue
		}
		if code < 0 || code >= Codes || seen[code] || Character(code) != byte(c) {
			t.Errorf("character %d has code %d, which stands for %d", c, code, Character(code))
		}
		seen[code] = true
	}
	if len(seen) != Codes {
		t.Errorf("%d codes, want %d", len(seen), Codes)
	}
}

// TestSplit reads every stream back as text, shifted by one for the targets.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text           string
		n              int
		inputs, target []string
	}{
		{"abcdefg", 3, []string{"ab", "cd", "ef"}, []string{"bc", "de", "fg"}},
		{"abcdefgh", 3, []string{"ab", "cd", "ef"}, []string{"bc", "de", "fg"}}, // h is left out
		{"abc", 1, []string{"ab"}, []string{"bc"}},
		{"a\n~", 2, []string{"a", "\n"}, []string{"\n", "~"}},
	} {
		s, err := Split([]byte(c.text), c.n)
		if err != nil {
			t.Fatal(err)
		}
		for part := range c.n {
			var input, target strings.Builder
			for step := range s.Steps {
				at := step*s.N + part
				input.WriteByte(Character(int(s.Input[at])))
				target.WriteByte(Character(int(s.Target[at])))
				if begins := s.Cont[at] == 0; begins != (step == 0) {
					t.Errorf("%q: step %d of part %d has cont %g", c.text, step, part, s.Cont[at])
				}
			}
			if input.String() != c.inputs[part] || target.String() != c.target[part] {
				t.Errorf("%q: part %d is %q, then %q; want %q, then %q", c.text, part, input.String(), target.String(), c.inputs[part], c.target[part])
			}
		}
	}
}

func TestSplitErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "3 characters cannot be cut into 3 parts"},
		{"abc", 0, "into 0 parts"},
		{"a\nb\tc", 1, "line 2: character 3 (0x09)"},
	} {
		if _, err := Split([]byte(c.text), c.n); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in %d parts: error %v, want one with %q", c.text, c.n, err, c.want)
		}
	}
}
