package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"muster/api"
)

// maxTreeFile is the longest file that sacctmgr load takes, in bytes: it travels in
// one message.
const maxTreeFile = api.MaxFrame - 64<<10

// treeFileHead explains the lines of a dump.
const treeFileHead = `# The accounts, users and QOS of a cluster, as sacctmgr dump writes and sacctmgr load reads them.
# A line is KIND - 'NAME', then options, each after a colon. Options that are left out stay as they are, or at their defaults.
# QOS lines come first, then the Cluster line. Parent - 'ACCOUNT' says to which account the lines that follow belong.
# Account - 'NAME' makes an account, User - 'NAME' adds a user to the parent.
`

// fileWords reads the words after dump and load: file=, cluster= and others.
func fileWords(list []string) (file, cluster string, others []string) {
	for _, w := range list {
		key, value, ok := strings.Cut(w, "=")
		value = strings.Trim(value, `"'`)
		switch key = strings.ToLower(key); {
		case ok && strings.HasPrefix("file", key):
			file = value
		case ok && len(key) > 1 && strings.HasPrefix("clusters", key):
			cluster = value
		default:
			others = append(others, w)
		}
	}
	return file, cluster, others
}

// managerDump is sacctmgr dump: it writes all accounts, users and QOS to a file.
func (in *invocation) managerDump(list []string) int {
	file, cluster, others := fileWords(list)
	if cluster == "" && len(others) > 0 {
		cluster, others = others[0], others[1:]
	}
	switch {
	case len(others) > 0:
		fmt.Fprintf(in.stderr, " Unknown option: %s\n", others[0])
		return 1
	case cluster == "":
		fmt.Fprintln(in.stderr, " We need a cluster to dump.")
		return 1
	}
	if code := in.ownCluster(cluster); code != 0 {
		return code
	}
	t, ok, code := in.fetchTable("dump")
	if !ok {
		return code
	}
	if file == "" {
		file = "./" + cluster + ".cfg"
		fmt.Fprintf(in.stdout, " No filename given, using %s.\n", file)
	}
	var text strings.Builder
	text.WriteString(treeFileHead)
	for i := range t.Rows {
		text.WriteString(t.Rows[i].Values[0] + "\n")
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o666); err != nil {
		in.errorf("the dump is not complete: %v", err)
		return 1
	}
	return 0
}

// managerLoad is sacctmgr load.
func (in *invocation) managerLoad(list []string, o *tableOptions) int {
	if o.has("readonly") {
		in.errorf("Can't run this command in readonly mode.")
		return 1
	}
	file, cluster, others := fileWords(list)
	req := &api.BookChange{Verb: "load", Entity: "tree"}
	if cluster != "" {
		req.Names = []string{"cluster=" + strings.ToLower(cluster)}
	}
	for _, w := range others {
		switch {
		case strings.EqualFold(w, "clean"):
			req.Names = append(req.Names, "clean")
		case file == "":
			file = w
		default:
			fmt.Fprintf(in.stderr, " Unknown option: %s\n", w)
			return 1
		}
	}
	if file == "" {
		fmt.Fprintln(in.stderr, " No filename given, specify one with file=''")
		return 1
	}
	var err error
	if req.Text, err = readTreeFile(file); err != nil {
		fmt.Fprintf(in.stderr, " Unable to read %q: %v\n", file, err)
		return 1
	}
	return in.commitChange(req, o)
}

func readTreeFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		if e, ok := err.(*fs.PathError); ok {
			err = e.Err
		}
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxTreeFile+1))
	if err == nil && len(b) > maxTreeFile {
		err = fmt.Errorf("it is longer than %d bytes", maxTreeFile)
	}
	return string(b), err
}
