package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"muster/api"
	"muster/cmd/muster/report"
	"muster/internal/wire"
	"muster/job"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "render a report of a period, for people and for cron",
		UsageText: "muster report [--period P] [--format F] [-o FILE] " + strings.Join(report.Names(), "|"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "period", Value: "yesterday", Usage: "today, yesterday, this-week, last-week, this-month, last-month, a day (2026-10-31), a month (2026-10) or a year (2026), in the cluster's zone"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: strings.Join(report.Formats(), ", ")},
			&cli.StringFlag{Name: "o", Usage: "`FILE` to write: it is replaced when the report is whole, else it stays as it was"},
		},
		Action: makeReport,
	}
}

func makeReport(c *cli.Context) error {
	if err := arguments(c, 1, 1, "one of "+strings.Join(report.Names(), ", ")+", after the options"); err != nil {
		return err
	}
	name, format := c.Args().First(), c.String("format")
	if err := report.Known(name, format); err != nil {
		return err
	}
	client, err := api.Connect()
	if err != nil {
		return err
	}
	defer client.Close()
	// The zone of the cluster decides where the period begins: an hour is asked for first.
	zoned, err := askUse(client, time.Now().Add(-time.Hour), time.Now())
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(zoned.Zone)
	if err != nil {
		return fmt.Errorf("the cluster's time zone: %w", err)
	}
	p, err := report.ParsePeriod(c.String("period"), zoned.Now.Std().In(zone))
	if err != nil {
		return err
	}
	use, err := askUse(client, p.From, p.To)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return report.New(name, p, use).Write(w, format) }
	if file := c.String("o"); file != "" {
		return replaceFile(file, write)
	}
	return write(c.App.Writer)
}

func askUse(client *api.Client, from, to time.Time) (*api.UseReply, error) {
	q := &api.UseQuery{From: job.TimeOf(from), To: job.TimeOf(to)}
	chunks, _, err := client.All(&api.Call{Method: api.MethodUse, Body: wire.Encode(nil, q), Read: api.ReadLinearizable})
	if err != nil {
		return nil, err
	}
	reply := &api.UseReply{}
	for _, b := range chunks {
		if err := wire.Decode(b, reply); err != nil {
			return nil, fmt.Errorf("answer to %s: %w", api.MethodUse, err)
		}
	}
	return reply, nil
}

// replaceFile writes a file aside, in the same directory and under a name of its own,
// and puts it in place when it is whole and on disk. So there is the right file or the
// one from before, also with a full disk, and two at once do not mix. The mode is 0666
// less the umask.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	aside := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%s.new", filepath.Base(path), rand.Text()))
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	err = errors.Join(write(f), f.Sync())
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(aside, path)
	}
	if err != nil {
		os.Remove(aside)
		return fmt.Errorf("report: %s is left as it was: %s", path, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}
