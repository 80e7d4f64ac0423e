package logs

import (
	"encoding/csv"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// ParseLog is the command parse_log.
var ParseLog = cli.Command{
	Name:     "parse_log",
	Synopsis: "turn the log of a training run into tables",
	Args:     "LOGFILE [OUTPUT_DIR] [-json FILE] [-delimiter ,] [-verbose]",
	Example:  "swcaffe parse_log train.log .",
	Words:    []string{"log", "dir"},
	Writes:   "dir",
	Help: `Reads a log of "swcaffe train" or "caffe train", or a file of train's -log_json, and writes LOGFILE.train and LOGFILE.test into OUTPUT_DIR, in the columns of
Caffe's parse_log.py: NumIters, Seconds, LearningRate and each output of the net. Seconds count from the line "Solving".
LearningRate is the rate printed last; rows before the first rate get the first rate. LOGFILE may be - for standard input; the tables
are then stdin.train and stdin.test. With -json, OUTPUT_DIR may be left out.`,
	Do: cli.With(parseLogFlags, parseLog),
}

func parseLogFlags(fs *flag.FlagSet, o *parseLogOptions) {
	cli.StringVar(fs, &o.log, "log", "", "the log `FILE`", cli.AnyFile)
	cli.StringVar(fs, &o.dir, "dir", "", "the `FOLDER` for the tables", cli.Folder)
	fs.StringVar(&o.delimiter, "delimiter", ",", "the character between columns")
	cli.OutputVar(fs, &o.json, "json", "write both tables to `FILE` as well (docs/json.md); -: to standard output, alone")
	fs.BoolVar(&o.verbose, "verbose", false, "say which files are written")
}

type parseLogOptions struct {
	log, dir, delimiter, json string
	verbose                   bool
}

func parseLog(e *cli.Env, o *parseLogOptions) error {
	if o.log == "" || o.dir == "" && o.json == "" {
		return cli.Usagef("need a log and a folder: swcaffe parse_log LOGFILE OUTPUT_DIR")
	}
	comma, size := utf8.DecodeRuneInString(o.delimiter)
	if o.delimiter == `\t` {
		comma, size = '\t', len(o.delimiter)
	}
	if size == 0 || size != len(o.delimiter) || strings.ContainsRune("\"\r\n", comma) || comma == utf8.RuneError {
		return cli.Usagef("-delimiter %q: must be one character, no quote and no line's end", o.delimiter)
	}
	l, name, err := readTrainingLog(o.log)
	if err != nil {
		return err
	}
	if o.dir != "" {
		if err := o.writeTables(e, l, name, comma); err != nil {
			return err
		}
	}
	return e.WriteJSON(o.json, logReport{l.train.json(), l.test.json()})
}

// writeTables writes the tables that have rows.
func (o *parseLogOptions) writeTables(e *cli.Env, l *trainingLog, name string, comma rune) error {
	for _, t := range []struct {
		suffix string
		table  *outputTable
	}{{".train", &l.train}, {".test", &l.test}} {
		out := filepath.Join(o.dir, name+t.suffix)
		if len(t.table.rows) == 0 {
			if o.verbose {
				e.Log.Infof("Not writing %s; no lines to write", out)
			}
			continue
		}
		if err := e.Spares(out); err != nil {
			return err
		}
		if err := t.table.write(out, comma); err != nil {
			return err
		}
		if o.verbose {
			e.Log.Infof("Wrote %s", out)
		}
	}
	return nil
}

// write writes a file with a header line and one line per row. Missing values are empty.
func (t *outputTable) write(path string, comma rune) error {
	return swproto.WriteFileAtomic(path, func(f *os.File) error {
		w := csv.NewWriter(f)
		w.Comma = comma
		records := [][]string{append([]string{"NumIters", "Seconds", "LearningRate"}, t.names...)}
		for _, row := range t.rows {
			r := []string{pythonFloat(float64(row.iteration)), pythonFloat(row.seconds), pythonFloat(row.rate)}
			for _, name := range t.names {
				cell := ""
				if v, ok := row.values[name]; ok {
					cell = pythonFloat(v)
				}
				r = append(r, cell)
			}
			records = append(records, r)
		}
		return w.WriteAll(records)
	})
}

// pythonFloat formats a number as Python does, for the same tables as Caffe's script: the shortest form that reads back as the
// same value, with a decimal point, and with an exponent below 1e-4 and from 1e16 on.
func pythonFloat(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(v, 'g', -1, 64)), "+")
	case v != 0 && size < 1e-4 || size >= 1e16:
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
