package pages

// Room returns a TooMuch if so many bytes do not fit into the computer's memory. It is Demand for callers that return errors.
func Room(bytes float64) error {
	if bytes > min(Memory(), most) {
		return &TooMuch{bytes}
	}
	return nil
}
