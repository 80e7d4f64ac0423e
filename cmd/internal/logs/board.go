package logs

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/board"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/page"
)

// Board is the command board.
var Board = cli.Command{
	Name:     "board",
	Synopsis: "show runs side by side in the browser",
	Args:     "[-http ADDRESS] DIR|FILE...",
	Example:  "swcaffe board runs",
	Words:    []string{"dir..."},
	Help: `Shows the curves of runs over one another, and the differences of their solvers and nets, on a page (docs/page.md). The runs are the files
that "swcaffe train -log_json FILE" writes: those in the folders and their subfolders whose names end in .jsonl, .json, .ndjson or .log, and the
named files. Curves of running trainings grow, and new runs appear. An interrupt (Ctrl-C) ends the command.`,
	Do: cli.With(boardFlags, showBoard),
}

func boardFlags(fs *flag.FlagSet, o *boardOptions) {
	fs.StringVar(&o.http, "http", "127.0.0.1:8080", "the page's `ADDRESS`; port 0 takes a free one")
	fs.StringVar(&o.token, "http_token", "", "the `WORD` that permits the page on addresses open to other computers (default: the environment variable "+cli.HTTPTokenVariable+")")
	cli.AppendVar(fs, &o.roots, "dir", "a `FOLDER` or file to show; may be given several times", cli.AnyFile)
}

type boardOptions struct {
	http, token string
	roots       []string
}

// scanEvery is the time between two looks at the files.
const scanEvery = time.Second

func showBoard(e *cli.Env, o *boardOptions) error {
	if len(o.roots) == 0 {
		return cli.Usagef("need a folder with the files of train -log_json: swcaffe board DIR")
	}
	token := cli.HTTPToken(o.token)
	if err := page.CheckAddress(o.http, token); err != nil {
		return cli.Usagef("-http %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := board.New(o.roots)
	if err != nil {
		return err
	}
	warned := ""
	scan := func() {
		if err := b.Scan(); err != nil && err.Error() != warned {
			warned = err.Error()
			e.Log.Warn(err)
		}
	}
	scan()
	server, err := page.Listen(page.Config{Address: o.http, Token: token, Board: true, Runs: func() []page.Run {
		var list []page.Run
		for _, r := range b.Runs() {
			list = append(list, page.Run(r))
		}
		return list
	}})
	if err != nil {
		return fmt.Errorf("-http %w", err)
	}
	defer server.Close()
	server.Serve()
	if len(b.Runs()) == 0 {
		e.Log.Warnf("No runs in %s yet: the board waits for files of train -log_json", strings.Join(o.roots, ", "))
	}
	e.Log.Infof("%d runs; the board: %s", len(b.Runs()), server.URL())
	clock := time.NewTicker(scanEvery)
	defer clock.Stop()
	for {
		select {
		case <-clock.C:
			scan()
		case <-ctx.Done():
			return nil
		}
	}
}
