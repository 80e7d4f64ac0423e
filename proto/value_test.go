package proto

import (
	"regexp"
	"testing"
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
		if _, err := parseFloat(s, 64); (err == nil) != decimal.MatchString(s) {
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
		if _, err := parseFloat(s, 64); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []string{"+inf", "inff", "nanf", "infinityf", "--1"} {
		if _, err := parseFloat(s, 64); err == nil {
			t.Errorf("%q is a number", s)
		}
	}
}
