package cpe

import "github.com/swcaffe/swcaffe/internal/suggest"

// table is something that users choose from by name.
type table[T any] struct {
	kind, kinds string // what an entry is called, and several
	name        func(entry *T) string
	entries     []T
}

// names lists the names in the table's order.
func (t *table[T]) names() []string {
	all := make([]string, len(t.entries))
	for i := range t.entries {
		all[i] = t.name(&t.entries[i])
	}
	return all
}

// find returns the entry of a name, or an error that says which there are.
func (t *table[T]) find(name string) (*T, error) {
	for i := range t.entries {
		if t.name(&t.entries[i]) == name {
			return &t.entries[i], nil
		}
	}
	return nil, suggest.Unknown(t.kind, name, t.kinds, t.names())
}
