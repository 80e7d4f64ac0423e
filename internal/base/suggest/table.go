package suggest

// Table is a list of values that users choose from by name.
type Table[T any] struct {
	Kind, Kinds string // the noun for an entry, singular and plural
	Name        func(T) string
	Entries     []T
}

// Names lists the names in the table's order.
func (t Table[T]) Names() []string {
	names := make([]string, len(t.Entries))
	for i, e := range t.Entries {
		names[i] = t.Name(e)
	}
	return names
}

// Find returns the entry of a name; the error lists all names, and suggests the nearest.
func (t Table[T]) Find(name string) (T, error) {
	for _, e := range t.Entries {
		if t.Name(e) == name {
			return e, nil
		}
	}
	var none T
	return none, Unknown(t.Kind, name, t.Kinds, t.Names())
}
