// Package events is the stream of a run's events: it started, an iteration is done, a test is done, a snapshot is written, it stopped or
// crashed.
//
// A Stream hands each Event to its subscribers, in the order of subscription, on the goroutine that publishes it. A solver publishes to a
// stream if it has one; without a stream it collects nothing. Whatever shows or stores a run is a subscriber:
//
//	stream.go   Stream and Event
//	kinds.go    the kinds of events and their fields
//	number.go   figures as JSON, with NaN and infinities
//	json.go     events as lines of JSON, written and read
//	file.go     File: a subscriber that appends lines to a file
//	table.go    Table: a bounded number of points of a curve
//	history.go  History: a subscriber that keeps a run's curves in Tables
//
// docs/events.md documents the lines for other programs.
package events
