package pages

// Room returns a TooMuch where so many bytes do not fit the computer's memory: what Demand says, for who returns errors.
func Room(bytes float64) error {
	if bytes > min(Memory(), most) {
		return &TooMuch{bytes}
	}
	return nil
}
