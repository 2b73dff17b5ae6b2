package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/api"
)

// errNoAgent ends a test where the command would talk to the cluster.
var errNoAgent = errors.New("no agent in this test")

// runHere runs a command in dir without a cluster.
func runHere(t *testing.T, dir, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	in := &invocation{
		name: args[0], args: args[1:], stdin: strings.NewReader(stdin), stdout: bufio.NewWriter(&out), stderr: &errs,
		environ: []string{"A=1"}, getenv: func(string) (string, bool) { return "", false }, dir: dir, uid: 1000,
		now: time.Now, connect: func() (*api.Client, error) { return nil, errNoAgent },
	}
	code = lookup(args[0])(in)
	in.stdout.Flush()
	return code, out.String(), errs.String()
}

// TestHelpOfAnOption: --hint=help shows the hints and submits nothing, wherever it stands.
func TestHelpOfAnOption(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "job.sh"), []byte("#!/bin/sh\n#SBATCH --hint=help\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"sbatch", "--hint=help", "--wrap=true"}, {"sbatch", "job.sh"}, {"srun", "--hint=help", "true"}, {"salloc", "--hint=help"}} {
		code, stdout, stderr := runHere(t, dir, "", args...)
		if code != 1 || stderr != "" || !strings.Contains(stdout, "nomultithread") {
			t.Errorf("%v: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

// TestRefusals: what is refused before the cluster is asked, in Slurm's words.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ok.sh": "#!/bin/sh\n", "noshebang.sh": "echo\n", "empty.sh": "", "dos.sh": "#!/bin/sh\r\n",
		"badopt.sh": "#!/bin/sh\n#SBATCH --nosuchoption=1\n", "badn.sh": "#!/bin/sh\n#SBATCH -n abc\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	try := "\nTry \"sbatch --help\" for more information\n"
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"sbatch --mem=12Q ok.sh":             {255, "sbatch: error: Invalid --mem specification\n"},
		"sbatch --time=abc ok.sh":            {255, "sbatch: error: Invalid --time specification\n"},
		"sbatch noshebang.sh":                {1, "sbatch: error: This does not look like a batch script.  The first\nsbatch: error: line must start with #! followed by the path to an interpreter.\nsbatch: error: For instance: #!/bin/sh\n"},
		"sbatch empty.sh":                    {1, "sbatch: error: Batch script is empty!\n"},
		"sbatch dos.sh":                      {1, "sbatch: error: Batch script contains DOS line breaks (\\r\\n)\nsbatch: error: instead of expected UNIX line breaks (\\n).\n"},
		"sbatch missing.sh":                  {1, "sbatch: error: Unable to open file missing.sh\n"},
		"sbatch badopt.sh":                   {255, "sbatch: unrecognized option '--nosuchoption=1'" + try},
		"sbatch --nosuchoption ok.sh":        {255, "sbatch: unrecognized option '--nosuchoption'" + try},
		"sbatch badn.sh":                     {1, "sbatch: error: Invalid numeric value \"abc\" for --ntasks.\n"},
		"sbatch -n0 ok.sh":                   {1, "sbatch: error: Invalid numeric value \"0\" for --ntasks.\n"},
		"sbatch -N0 ok.sh":                   {1, "sbatch: error: Batch job submission failed: Node count specification invalid\n"},
		"sbatch --begin=yesterdayish ok.sh":  {255, "Invalid time specification (pos=0): yesterdayish\nsbatch: error: Invalid --begin specification\n"},
		"sbatch --mail-type=SOMETIME ok.sh":  {255, "sbatch: error: Invalid --mail-type specification\n"},
		"sbatch --signal=FOO@60 ok.sh":       {255, "sbatch: error: Invalid --signal specification\n"},
		"sbatch --uid=bob ok.sh":             {255, "sbatch: error: --uid only permitted by root user\n"},
		"sbatch --wrap=true ok.sh":           {1, "sbatch: error: Script arguments not permitted with --wrap option\n"},
		"sbatch --account= ok.sh":            {1, "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified\n"},
		"sbatch --qos= ok.sh":                {1, "sbatch: error: Batch job submission failed: Invalid qos specification\n"},
		"sbatch -w , ok.sh":                  {1, "sbatch: error: Batch job submission failed: Node count specification invalid\n"},
		"sbatch --clusters= ok.sh":           {1, "sbatch: error: No cluster '' known by database.\nsbatch: error: '' can't be reached now, or it is an invalid entry for --cluster.  Use 'sacctmgr list clusters' to see available clusters.\n"},
		"sbatch -N2 -m plane=2 ok.sh":        {1, "sbatch: error: Too few processes for the requested {plane,node} distribution\n"},
		"sbatch -N2 -n3 -m plane=2 ok.sh":    {1, "sbatch: error: Batch job submission failed: no agent in this test\n"},
		"sbatch -B abc ok.sh":                {1, "sbatch: error: Invalid numeric value \"abc\" for first arg of -B.\n"},
		"sbatch -B 1:x ok.sh":                {1, "sbatch: error: Invalid numeric value \"x\" for second arg of -B.\n"},
		"sbatch -B 1:0 ok.sh":                {1, "sbatch: error: Batch job submission failed: Node count specification invalid\n"},
		"sbatch -N1:2 ok.sh":                 {255, "sbatch: error: \"1:2\" is not a valid node count\n"},
		"sbatch -N3,a ok.sh":                 {255, "sbatch: error: \"a\" is not a valid node count\n"},
		"sbatch -N4- ok.sh":                  {255, "sbatch: error: Maximum node count -1 is less than minimum node count 4\n"},
		"sbatch --open-mode=x ok.sh":         {255, "sbatch: error: Invalid --open-mode specification\n"},
		"sbatch --open-mode=app ok.sh":       {1, "sbatch: error: Batch job submission failed: no agent in this test\n"},
		"sbatch --priority=4294967294 ok.sh": {255, "sbatch: error: Priority must be < 4294967294\n"},
		"sbatch --tasks-per-node=0 ok.sh":    {1, "sbatch: error: Invalid numeric value \"0\" for --ntasks-per-node.\n"},
		"sbatch --tres-per-task=cpu=x ok.sh": {1, "sbatch: fatal: Invalid --tres-per-task=cpu=0\n"},
		"sbatch --tres-per-task=foo=1 ok.sh": {1, "sbatch: error: Batch job submission failed: Invalid Trackable RESource (TRES) specification\n"},
		"sbatch --exclusive=user ok.sh":      {1, "sbatch: error: Option --exclusive=user is not supported: use --exclusive\n"},
		"sbatch --segment=0x2 ok.sh":         {255, "sbatch: error: Invalid --segment specification\n"},
		"sbatch --segment=65534 ok.sh":       {255, "sbatch: error: Invalid --segment specification\n"},
		"sbatch --segment=0 ok.sh":           {1, "sbatch: error: Batch job submission failed: no agent in this test\n"},
		"scancel -u nosuchuser":              {1, "scancel: error: Invalid user name: nosuchuser\n"},
		"scontrol update":                    {1, "too few arguments for update keyword\n"},
		"scontrol hold":                      {1, "too few arguments for keyword:hold\n"},
		"sbatch ok.sh":                       {1, "sbatch: error: Batch job submission failed: no agent in this test\n"},
		"scancel abc":                        {1, "scancel: error: Invalid job id abc\n"},
		"scancel":                            {1, "scancel: error: No job identification provided\n"},
		"scancel -s NOSIG 1":                 {1, "Unknown job signal: NOSIG\n"},
		"scontrol bogus":                     {1, "invalid keyword: bogus\n"},
		"scontrol update jobid=28 bogus=1":   {1, "Update of this parameter is not supported: bogus=1\nRequest aborted\n"},
		"scontrol update jobid=28 timelimit": {1, "Invalid input: timelimit\nRequest aborted\n"},
	} {
		code, out, got := runHere(t, dir, "", strings.Fields(line)...)
		if code != want.code || got != want.text || out != "" {
			t.Errorf("%s\ngot  %d %q %q\nwant %d %q", line, code, out, got, want.code, want.text)
		}
	}
}

// TestVersion: tools look for "slurm NN.NN".
func TestVersion(t *testing.T) {
	for _, command := range []string{"sbatch", "scancel", "scontrol"} {
		if code, out, _ := runHere(t, "/", "", command, "--version"); code != 0 || !strings.HasPrefix(out, "slurm 26.05.3") {
			t.Errorf("%s: %d %q", command, code, out)
		}
	}
}

// TestLean: the commands start fast because of what they do not link.
func TestLean(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skipf("go list: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		dep = strings.TrimSpace(dep)
		for _, heavy := range []string{"google.golang.org/", "net/http", "text/template", "crypto/tls", "muster/state", "muster/api/pb"} {
			if strings.HasPrefix(dep, heavy) {
				t.Errorf("muster-cmds links %s", dep)
			}
		}
	}
}
