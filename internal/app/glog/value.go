package glog

import (
	"errors"
	"flag"
	"strings"
)

// Value is the value of a flag. It records whether the flag was set.
type Value struct {
	Parse   func(string) error
	text    string // the default, for help
	boolean bool
	Given   func() // if not nil, called after each value
}

func (s *Value) String() string {
	if s == nil {
		return ""
	}
	return s.text
}

func (s *Value) IsBoolFlag() bool { return s.boolean }

func (s *Value) Set(value string) error {
	if err := s.Parse(value); err != nil {
		return err
	}
	if s.Given != nil {
		s.Given()
	}
	return nil
}

// ParseBool parses a boolean as gflags does.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "1", "t", "true", "y", "yes":
		return true, nil
	case "0", "f", "false", "n", "no":
		return false, nil
	}
	return false, errors.New("not true or false")
}

// IsBool reports whether a flag may be set without a value.
func IsBool(f *flag.Flag) bool {
	if f == nil {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
