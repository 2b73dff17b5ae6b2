package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"muster/sched/sim/published"
)

func simCommand() *cli.Command {
	return &cli.Command{
		Name:        "sim",
		Usage:       "simulate clusters in virtual time",
		Subcommands: []*cli.Command{simRunCommand(), simTableCommand(), simReplayCommand()},
	}
}

func simTableCommand() *cli.Command {
	c := &cli.Command{
		Name:  "table",
		Usage: "rebuild a published table of results from its traces",
	}
	for _, name := range published.Tables() {
		c.Subcommands = append(c.Subcommands, &cli.Command{
			Name:      name,
			Usage:     published.About(name),
			UsageText: "muster sim table " + name + " --data DIR [--workload NAME] [--policy NAME] [--seeds N] [--format table|csv|json]",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "data", Usage: "directory of the traces, plain or packed", Required: true},
				&cli.StringFlag{Name: "workload", Usage: "one of the table's (default: all)"},
				&cli.StringFlag{Name: "policy", Usage: "one of the table's (default: all)"},
				classesFlag(),
				&cli.IntFlag{Name: "seeds", Usage: "of fgd (default: 10, as published)"},
				formatFlag("table", "csv", "json"),
			},
			Action: simTable,
		})
	}
	return c
}

// classesFlag sets other classes of length than the balanced order has.
func classesFlag() cli.Flag {
	return &cli.StringFlag{Name: "classes", Usage: "upper bounds of the classes of the balanced order, in seconds, such as 120,2700"}
}

func classes(c *cli.Context) ([]uint32, error) {
	var out []uint32
	for text := range strings.SplitSeq(c.String("classes"), ",") {
		if text == "" && len(out) == 0 {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || len(out) > 0 && uint32(n) <= out[len(out)-1] {
			return nil, fmt.Errorf("--classes: %q, want ascending seconds such as 120,2700", c.String("classes"))
		}
		out = append(out, uint32(n))
	}
	return out, nil
}

func formatFlag(formats ...string) cli.Flag {
	return &cli.StringFlag{Name: "format", Value: formats[0], Usage: strings.Join(formats, ", ")}
}

func simTable(c *cli.Context) error {
	if err := arguments(c, 0, 0, "none"); err != nil {
		return err
	}
	if c.Int("seeds") < 0 {
		return fmt.Errorf("--seeds: %d, want 1 or more", c.Int("seeds"))
	}
	name := c.Command.Name
	bounds, err := classes(c)
	if err != nil {
		return err
	}
	rows, err := published.Table(name, published.Options{Data: c.String("data"), Workload: c.String("workload"), Policy: c.String("policy"), Seeds: c.Int("seeds"), Classes: bounds})
	if err != nil {
		return err
	}
	switch format := c.String("format"); format {
	case "json":
		return writeRowsJSON(os.Stdout, name, rows)
	case "table", "csv":
		return writeRows(os.Stdout, name, rows, format == "csv")
	default:
		return fmt.Errorf("--format: %q, want table, csv or json", format)
	}
}

// writeRowsJSON writes the rows; if there is only one, its fields stand beside
// the list, too.
func writeRowsJSON(w io.Writer, table string, rows []published.Row) error {
	answer := struct {
		Table string `json:"table"`
		*published.Row
		Rows []published.Row `json:"rows"`
	}{Table: table, Rows: rows}
	if len(rows) == 1 {
		answer.Row = &rows[0]
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(answer)
}

// rowColumns are the columns of a table for people.
func rowColumns(table string) []string {
	switch table {
	case "fgd":
		return []string{"workload", "policy", "seeds", "95%", "100%", "110%", "120%", "130%", "spread"}
	case "rlscheduler":
		return []string{"workload", "policy", "backfill", "bsld", "utilization", "max wait"}
	}
	if table == "orders" {
		return []string{"workload", "policy", "jobs", "bsld", "utilization", "max wait", "max turnaround"}
	}
	return []string{"workload", "policy", "jobs", "bsld", "rms", "max bsld", "turnaround", "max turnaround", "utilization"}
}

func rowValues(table string, r *published.Row) []string {
	real := func(x float64, digits int) string { return strconv.FormatFloat(x, 'f', digits, 64) }
	switch table {
	case "fgd":
		out := []string{r.Workload, r.Policy, strconv.Itoa(r.Seeds)}
		for _, x := range []string{"95", "100", "110", "120", "130"} {
			out = append(out, real(r.Allocated[x], 2))
		}
		return append(out, real(r.Spread, 2))
	case "rlscheduler":
		return []string{r.Workload, r.Policy, map[bool]string{true: "yes", false: "no"}[*r.Backfill], real(r.MeanSlowdown, 2), real(r.Utilization, 3), real(r.MaxWait, 0)}
	}
	if table == "orders" {
		return []string{r.Workload, r.Policy, strconv.Itoa(r.Jobs), real(r.MeanSlowdown, 2), real(r.Utilization, 3), real(r.MaxWait, 0), strconv.FormatInt(r.MaxTurnaround, 10)}
	}
	return []string{r.Workload, r.Policy, strconv.Itoa(r.Jobs), real(r.MeanSlowdown, 6), real(r.RMSSlowdown, 4), real(r.MaxSlowdown, 1),
		real(r.MeanTurnaround, 3), strconv.FormatInt(r.MaxTurnaround, 10), real(r.Utilization, 4)}
}

func writeRows(w io.Writer, table string, rows []published.Row, comma bool) error {
	lines := [][]string{rowColumns(table)}
	for i := range rows {
		lines = append(lines, rowValues(table, &rows[i]))
	}
	return writeColumns(w, lines, comma)
}

// writeColumns writes lines of words, aligned or separated by commas.
func writeColumns(w io.Writer, lines [][]string, comma bool) error {
	if comma {
		for _, line := range lines {
			if _, err := fmt.Fprintln(w, strings.Join(line, ",")); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	return t.Flush()
}
