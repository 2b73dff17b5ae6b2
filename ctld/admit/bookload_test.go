package admit

import (
	"strings"
	"testing"

	"muster/accounting"
	"muster/api"
	"muster/ctld/treefile"
)

func (c *fakeCore) load(t *testing.T, uid uint32, text string, names ...string) (*api.BookReply, error) {
	t.Helper()
	reply := &api.BookReply{}
	return reply, c.call(t, uid, api.MethodBookChange, &api.BookChange{Verb: "load", Entity: "tree", Text: text, Names: names, Commit: true}, reply)
}

func (c *fakeCore) dump() string {
	var s strings.Builder
	for _, l := range treefile.Lines(c.Root().Book(), c.Root().Cluster().Name) {
		s.WriteString(l.String() + "\n")
	}
	return s.String()
}

func TestLoadBringsATreeAlong(t *testing.T) {
	c := accountCore(t)
	file := `QOS - 'normal':Description='Normal QOS default'
QOS - 'gold':Description='gold':Flags='DenyOnLimit':MaxWallDurationPerJob=60:Preempt='normal':PreemptExemptTime=300:Priority=50
Cluster - 'elsewhere':Fairshare=1:QOS='normal'
Parent - 'root'
Account - 'bio':Description='biology2':Organization='sci':Fairshare=4
Account - 'newa':Description='new acct':Organization='sci':Fairshare=3:GrpTRES=cpu=4
Parent - 'newa'
User - 'carl':DefaultAccount='newa':AdminLevel='Operator':Fairshare=1:MaxJobs=2:QOS='+gold'
Account - 'sub':Description='sub':Organization='newa':Fairshare=1
Parent - 'sub'
User - 'carl':DefaultAccount='newa':AdminLevel='Operator':Fairshare=2
User - 'dora':DefaultAccount='sub':Coordinator='newa':Fairshare=2
`
	before := c.dump()
	for _, x := range []struct{ text, want string }{
		{file, "give cluster="},
		{strings.Replace(file, "MaxJobs=2", "Zork=2", 1), "Unknown option: zork=2"},
		{strings.Replace(file, "Parent - 'sub'", "Parent - 'nope'", 1), "parent (nope)"},
		{"Parent - 'root'\n", "cluster name first"},
		{file + "User - 'dora':Fairshare=3\n", "twice"},
	} {
		names := []string{"cluster=" + c.Root().Cluster().Name}
		if x.want == "give cluster=" {
			names = nil
		}
		if _, err := c.load(t, 0, x.text, names...); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, want an error with %q", err, x.want)
		}
		if c.dump() != before {
			t.Fatalf("a file with %q changed something:\n%s", x.want, c.dump())
		}
	}
	own := "cluster=" + c.Root().Cluster().Name
	if _, err := c.load(t, 1000, file, own); err == nil {
		t.Error("alice may load a tree")
	}
	if _, err := c.load(t, 0, file, own); err != nil {
		t.Fatal(err)
	}
	after := c.dump()
	for _, line := range strings.Split(strings.TrimSpace(file), "\n")[1:] {
		line = strings.Replace(line, "elsewhere", c.Root().Cluster().Name, 1)
		if !strings.Contains(after, line+"\n") {
			t.Errorf("after the load there is no line %s in\n%s", line, after)
		}
	}
	if !c.Root().Book().Coordinates("dora", "sub") || c.Root().Book().Coordinates("dora", "bio") {
		t.Error("dora coordinates newa and what is below it, nothing else")
	}
	// What was dumped changes nothing when it is loaded.
	reply, err := c.load(t, 0, after)
	if err != nil || !reply.Settled || !strings.Contains(reply.Text, "Nothing new added.") {
		t.Errorf("loaded again: %+v, %v", reply, err)
	}
	if _, err := c.load(t, 0, file, own, "clean"); err != nil {
		t.Fatal(err)
	}
	if b := c.Root().Book(); b.Account("phys") != nil || b.User("alice") != nil || b.User("root") == nil || b.Account("sub") == nil {
		t.Errorf("clean leaves what the file has, and root:\n%s", c.dump())
	}
}

// The cost of a load grows with the file, not with its square.
func BenchmarkLoad(b *testing.B) {
	var s strings.Builder
	s.WriteString("Cluster - 'c'\nParent - 'root'\nAccount - 'a'\nParent - 'a'\n")
	for i := range 10000 {
		s.WriteString("User - 'u" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + "'\n")
	}
	for b.Loop() {
		c := &bookChange{book: accounting.Initial(), cluster: "c", req: &api.BookChange{Verb: "load", Entity: "tree", Text: s.String()}}
		if err := c.loadBook(); err != nil {
			b.Fatal(err)
		}
		if _, err := accounting.Initial().With(c.changes); err != nil {
			b.Fatal(err)
		}
	}
}
