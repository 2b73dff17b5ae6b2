package treefile

import (
	"slices"
	"strings"
	"testing"

	"muster/accounting"
)

// What real Slurm 26.05 dumps is read, with quotation marks, colons in texts and
// devices with types.
func TestLinesOfSlurmAreRead(t *testing.T) {
	lines, err := Parse("# a comment\n\nQOS - 'high':Description='a: b':Flags='DenyOnLimit,NoReserve':GrpTRES=cpu=10,gres/gpu:a100=4:Priority=10\n" +
		"Cluster - 'conform':Fairshare=1:QOS='normal'\n\tuser - alice:Partition='debug':MaxTRESPerJob=gres/gpu=2:MaxJobs=3\n")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		s := l.Kind + " " + l.Name
		for _, o := range l.Options {
			s += ";" + o.Name + "=" + o.Value
		}
		got = append(got, s)
	}
	want := []string{"QOS high;Description=a: b;Flags=DenyOnLimit,NoReserve;GrpTRES=cpu=10,gres/gpu:a100=4;Priority=10",
		"Cluster conform;Fairshare=1;QOS=normal", "User alice;Partition=debug;MaxTRESPerJob=gres/gpu=2;MaxJobs=3"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if lines[2].Number != 5 {
		t.Errorf("the third record is said to be in line %d, it is in line 5", lines[2].Number)
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"\nFoo - 'x'", "line(2)"}, {"User - ''", "without a name"}, {"User - 'x':Zork", `"Zork": want OPTION=VALUE`},
		{"User - 'x':Description='open", "not closed"}, {"Account x", "want QOS"}, {"User - '" + strings.Repeat("x", maxLine) + "'", "longer"},
	} {
		if _, err := Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: got %v, want an error with %q", c.text, err, c.want)
		}
	}
}

// The lines are those of sacctmgr 26.05.3 for the same book.
func TestLinesAreThoseOfSlurm(t *testing.T) {
	b, err := accounting.Initial().With([]accounting.Change{
		{QOS: &accounting.QOS{Name: "high", Description: "high", Priority: 1000, Preempt: []string{"normal"}, GraceTime: 60, Limits: accounting.Limits{MaxWall: accounting.AtMost(1440)}}},
		{Account: &accounting.Account{Name: "lab", Description: "one's", Organization: "phys", Coordinators: []string{"alice"}}}, {Account: &accounting.Account{Name: "phys", Description: "physics", Organization: "sci"}},
		{Assoc: &accounting.Association{Account: "phys", Parent: "root", Shares: 1}},
		{Assoc: &accounting.Association{Account: "lab", Parent: "phys", Shares: 7, Limits: accounting.Limits{GrpJobs: accounting.AtMost(8), MaxTRES: accounting.Amounts{{Name: "cpu", Count: 2}, {Name: "mem", Count: 2048}}}}},
		{User: &accounting.User{Name: "alice", Default: "phys"}}, {Assoc: &accounting.Association{Account: "phys", User: "alice", Shares: 1}},
		{Assoc: &accounting.Association{Account: "lab", User: "alice", Partition: "debug", Shares: accounting.SharesOfParent, QOS: []string{"+high"}, Default: "high"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, l := range Lines(b, "conform") {
		got.WriteString(l.String() + "\n")
	}
	want := `QOS - 'high':Description='high':GraceTime=60:MaxWallDurationPerJob=1440:Preempt='normal':Priority=1000
QOS - 'normal':Description='Normal QOS default'
Cluster - 'conform':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'phys':Description='physics':Organization='sci':Fairshare=1
Parent - 'phys'
User - 'alice':DefaultAccount='phys':Coordinator='lab':Fairshare=1
Account - 'lab':Description='one` + "`" + `s':Organization='phys':Fairshare=7:GrpJobs=8:MaxTRESPerJob=cpu=2,mem=2G
Parent - 'lab'
User - 'alice':Partition='debug':DefaultAccount='phys':Coordinator='lab':DefaultQOS='high':Fairshare=2147483647:QOS='+high'
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// FuzzParse: no text stops the reader.
func FuzzParse(f *testing.F) {
	f.Add("QOS - 'a':Flags='b':GrpTRES=gres/gpu:x=1\nUser - 'c'")
	f.Fuzz(func(t *testing.T, text string) { Parse(text) })
}
