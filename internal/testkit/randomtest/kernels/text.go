package kernels

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/internal/testkit/randomtest"
)

// A problem's text holds its fields by their names in lower case: numbers, lists of numbers, and threads as name=value; a flag
// that is set, as its name. A string field has one of the values in its tag "of"; the first is the default and is not written.
// The tag "least" is the smallest value of a number.

// field is a field of a problem's struct.
type field struct {
	name  string
	value reflect.Value
	least int
	of    []string
}

// fields lists the fields, those of embedded structs last.
func fields(s form) []field { return fieldsOf(reflect.ValueOf(s).Elem()) }

func fieldsOf(v reflect.Value) (list []field) {
	var inner []field
	for i := range v.NumField() {
		t := v.Type().Field(i)
		if t.Anonymous {
			inner = append(inner, fieldsOf(v.Field(i))...)
			continue
		}
		f := field{name: strings.ToLower(t.Name), value: v.Field(i)}
		f.least, _ = strconv.Atoi(t.Tag.Get("least"))
		f.of = strings.Split(t.Tag.Get("of"), ",")
		list = append(list, f)
	}
	return append(list, inner...)
}

// write returns a problem as a line of text.
func write(kind string, s form) string {
	words := []string{kind}
	for _, f := range fields(s) {
		switch v := f.value.Interface().(type) {
		case bool:
			if v {
				words = append(words, f.name)
			}
		case string:
			if v != "" && v != f.of[0] {
				words = append(words, f.name+"="+v)
			}
		case []int:
			words = append(words, f.name+"="+strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]"))
		case []randomtest.Threads:
			var parts []string
			for _, t := range v {
				parts = append(parts, t.String())
			}
			words = append(words, f.name+"="+strings.Join(parts, "/"))
		default:
			words = append(words, fmt.Sprintf("%s=%v", f.name, v))
		}
	}
	return strings.Join(words, " ")
}

// parse parses a text of write.
func parse(kind, text string, s form) error {
	words := strings.Fields(text)
	if len(words) == 0 || words[0] != kind {
		return fmt.Errorf("%q does not begin with %q", text, kind)
	}
	all := fields(s)
	for _, f := range all {
		if f.value.Kind() == reflect.String {
			f.value.SetString(f.of[0])
		}
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		i := slices.IndexFunc(all, func(f field) bool { return f.name == name })
		if i < 0 {
			return fmt.Errorf("%q: no field %q", text, name)
		}
		if err := all[i].set(value); err != nil {
			return fmt.Errorf("field %q: %w", word, err)
		}
	}
	return nil
}

func (f *field) set(text string) (err error) {
	switch p := f.value.Addr().Interface().(type) {
	case *bool:
		*p = true
	case *string:
		if *p = text; !slices.Contains(f.of, text) {
			err = fmt.Errorf("it is one of %v", f.of)
		}
	case *int:
		*p, err = strconv.Atoi(text)
	case *uint64:
		*p, err = strconv.ParseUint(text, 10, 64)
	case *[]int:
		*p = nil
		for _, part := range strings.Split(text, ",") {
			var n int
			if n, err = strconv.Atoi(part); err != nil {
				return err
			}
			*p = append(*p, n)
		}
	case *[]randomtest.Threads:
		*p = nil
		for _, part := range strings.Split(text, "/") {
			if part == "" {
				continue
			}
			var t randomtest.Threads
			if t, err = randomtest.ParseThreads(part); err != nil {
				return err
			}
			*p = append(*p, t)
		}
	default:
		panic("kernels: a field of a type that is not known")
	}
	return err
}

// assign copies a problem to another of its kind, lists included.
func assign(to, from form) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
	for _, f := range fields(to) {
		switch list := f.value.Interface().(type) {
		case []int:
			f.value.Set(reflect.ValueOf(slices.Clone(list)))
		case []randomtest.Threads:
			f.value.Set(reflect.ValueOf(slices.Clone(list)))
		}
	}
}

// changes returns ways to make a problem smaller, the greatest steps first: fewer threads and options, then numbers reduced to
// the least value, to half, by one, or by 16.
func changes(s form) (list []func(form)) {
	for i, f := range fields(s) {
		list = append(list, f.simpler(i)...)
	}
	if a, ok := s.(interface{ axes() []func(form) }); ok {
		list = append(list, a.axes()...)
	}
	steps := []func(n, least int) int{
		func(_, least int) int { return least },
		func(n, _ int) int { return n / 2 },
		func(n, _ int) int { return n - 16 },
		func(n, _ int) int { return n - 1 },
	}
	for _, step := range steps {
		for i, f := range fields(s) {
			n := 0
			switch v := f.value.Interface().(type) {
			case int:
				n = 1
			case []int:
				n = len(v)
			}
			for k := range n {
				list = append(list, func(s form) { lower(&fields(s)[i], k, step) })
			}
		}
	}
	return list
}

// lower makes number k of a field smaller.
func lower(f *field, k int, step func(n, least int) int) {
	p, ok := f.value.Addr().Interface().(*int)
	if !ok {
		p = &f.value.Interface().([]int)[k]
	}
	if n := step(*p, f.least); n >= f.least && n < *p {
		*p = n
	}
}

// simpler returns the changes of field i that do not concern numbers.
func (f *field) simpler(i int) (list []func(form)) {
	switch v := f.value.Interface().(type) {
	case bool:
		if v {
			list = append(list, func(s form) { fields(s)[i].value.SetBool(false) })
		}
	case string:
		list = append(list, func(s form) { fields(s)[i].value.SetString(f.of[0]) })
	case []randomtest.Threads:
		put := func(t []randomtest.Threads) {
			list = append(list, func(s form) { fields(s)[i].value.Set(reflect.ValueOf(t)) })
		}
		put(nil)
		for k := range v {
			put(slices.Delete(slices.Clone(v), k, k+1))
			for _, t := range v[k].Smaller() {
				less := slices.Clone(v)
				less[k] = t
				put(less)
			}
		}
	}
	return list
}
