package measure

import (
	"fmt"
	"strconv"
	"strings"
)

// parseNumbers parses an ascending list of numbers. "..." continues the sequence up to the number after it: by a constant factor
// if the numbers before it have one, else in equal steps.
func parseNumbers(list string) ([]int, error) {
	words := strings.Split(list, ",")
	var numbers []int
	for i, word := range words {
		if word == "..." {
			if i < 2 || i+1 == len(words) {
				return nil, fmt.Errorf("%q: two numbers must stand before \"...\", and one behind it", list)
			}
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q: must be a positive number", word)
		}
		if len(numbers) > 0 && n <= numbers[len(numbers)-1] {
			return nil, fmt.Errorf("%d after %d: the numbers must grow", n, numbers[len(numbers)-1])
		}
		if i > 0 && words[i-1] == "..." {
			if numbers, err = fillNumbers(numbers, n); err != nil {
				return nil, err
			}
			continue
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// mostNumbers limits the length of a list.
const mostNumbers = 1000

// fillNumbers continues the numbers up to last.
func fillNumbers(numbers []int, last int) ([]int, error) {
	a, b := numbers[len(numbers)-2], numbers[len(numbers)-1]
	next := func(n int) int { return n + b - a }
	factor := b / a
	if geometric := b%a == 0 && (len(numbers) < 3 || a == factor*numbers[len(numbers)-3]); geometric {
		next = func(n int) int { return n * factor }
	}
	for n := next(b); n < last; n = next(n) {
		if numbers = append(numbers, n); len(numbers) > mostNumbers {
			return nil, fmt.Errorf("%d,%d,...,%d: more than %d numbers", a, b, last, mostNumbers)
		}
	}
	return append(numbers, last), nil
}
