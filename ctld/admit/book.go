package admit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"muster/accounting"
	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/state"
)

// changeTries bounds how often a change is made anew because another one came
// between.
const changeTries = 16

// changeBook is sacctmgr add, modify, delete and load: book.change. A change is made
// from the present book and refused by the state if that is no longer the one.
func changeBook(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.BookChange
	if err := decode(r, &req); err != nil {
		return err
	}
	for range changeTries {
		root := core.Root()
		if err := checkPairs(&req); err != nil {
			return err
		}
		b := &bookChange{book: root.Book(), cluster: root.Cluster().Name, req: &req}
		manages := mayManage(root, r)
		if !manages && len(b.book.Coordinated(r.Caller.User)) == 0 {
			return b.denied()
		}
		if err := b.work(); err != nil {
			return err
		}
		b.book = root.Book() // load works on from one with its QOS
		if !manages && !b.withinCoordination(r.Caller.User) {
			return b.denied()
		}
		reply := &api.BookReply{Text: b.text.String(), Nothing: len(b.changes) == 0 && !b.settled, Settled: len(b.changes) == 0 && b.settled}
		if _, err := b.book.With(b.changes); err != nil {
			return invalid(" Error with request: " + err.Error())
		}
		if len(b.changes) == 0 || !req.Commit {
			return send(r, reply)
		}
		result, err := propose(ctx, core, r, seal(core, r, &state.Accounting{Seen: b.book.Serial, Changes: b.changes}))
		if err != nil {
			return err
		}
		switch result.Code {
		case state.OK:
			return send(r, reply)
		case state.Conflict:
			if _, err := core.WaitIndex(ctx, r.Index); err != nil {
				return err
			}
		default:
			return &api.Error{Kind: api.ErrState, Text: " Error with request: " + result.Text}
		}
	}
	return api.Errorf(api.ErrUnavailable, "the accounts are changed by others all the time; try again")
}

// mayManage tells whether a caller may change accounts: one of admin level Operator
// or Administrator.
func mayManage(root *state.Root, r *service.Request) bool {
	return r.Operates(root)
}

// bookChange is one change on its way.
type bookChange struct {
	book    *accounting.Book
	cluster string
	req     *api.BookChange
	changes []accounting.Change
	text    strings.Builder
	settled bool // it is a success even if nothing was to be changed
}

func (b *bookChange) denied() error {
	if b.req.Verb == "add" {
		return denied(" error: Only admins/operators/coordinators can add " + strings.TrimSuffix(b.req.Entity, "s") + "s")
	}
	return &api.Error{Kind: api.ErrDenied, Text: "sacctmgr: error: Your user doesn't have privilege to perform this action\n Error with request: " + slurm.TextDenied}
}

func (b *bookChange) printf(format string, args ...any) { fmt.Fprintf(&b.text, format, args...) }

func (b *bookChange) work() error {
	if err := b.takeCluster(); err != nil {
		return err
	}
	switch b.req.Verb + " " + b.req.Entity {
	case "add account":
		return b.addAccounts()
	case "add user":
		return b.addUsers()
	case "add qos":
		return b.addQOS()
	case "modify account", "modify user":
		return b.modifyAssocs()
	case "modify qos":
		return b.modifyQOS()
	case "add coordinator":
		return b.addCoordinators()
	case "delete coordinator":
		return b.deleteCoordinators()
	case "load tree":
		return b.loadBook()
	case "delete account":
		return b.deleteAccounts()
	case "delete user":
		return b.deleteUsers()
	case "delete qos":
		return b.deleteQOS()
	}
	return invalid(fmt.Sprintf(" sacctmgr %s %s is not done by this version", b.req.Verb, b.req.Entity))
}

// takeCluster takes cluster= out of the conditions: there is only one.
func (b *bookChange) takeCluster() error {
	for _, list := range []*[]api.Pair{&b.req.Where, &b.req.Set} {
		var rest []api.Pair
		for _, p := range *list {
			switch {
			case !strings.HasPrefix("clusters", p.Name) || len(p.Name) < 2:
				rest = append(rest, p)
			case p.Value != b.cluster:
				return invalid(fmt.Sprintf(" This cluster '%s' doesn't exist.", p.Value))
			}
		}
		*list = rest
	}
	return nil
}

// take removes the pairs of a name, given with its least abbreviation, and returns
// the values of all of them; ok is false if there are none.
func take(list *[]api.Pair, name string, least int) (values []string, ok bool) {
	*list = slices.DeleteFunc(slices.Clone(*list), func(p api.Pair) bool {
		single := strings.TrimSuffix(p.Name, "s")
		if len(single) < least || !strings.HasPrefix(name, single) {
			return false
		}
		values, ok = append(values, lower(p.Value)...), true
		return true
	})
	return values, ok
}

// lower splits a list of names, which Slurm keeps in lower case.
func lower(list string) []string {
	var out []string
	for n := range strings.SplitSeq(strings.ToLower(list), ",") {
		if n = strings.Trim(n, `"' `); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// checkPairs refuses values that no line of output could hold.
func checkPairs(req *api.BookChange) error {
	for _, p := range slices.Concat(req.Where, req.Set) {
		if len(p.Value) > maxName || strings.ContainsAny(p.Value, "\x00\n|") {
			return invalid(fmt.Sprintf(" The value of %s is longer than %d bytes or has a line break or | in it", p.Name, maxName))
		}
	}
	return nil
}

// names are all names that are given.
func (b *bookChange) names(also ...string) []string {
	var out []string
	for _, n := range b.req.Names {
		out = append(out, lower(n)...)
	}
	return append(out, also...)
}

// checkName refuses what could not be a name.
func checkName(what, name string) error {
	if len(name) > maxName || strings.ContainsAny(name, "\x00\n|,= \t") || strings.HasPrefix(name, "+") || strings.HasPrefix(name, "-") {
		return invalid(fmt.Sprintf(" %q is no name for %s", name, what))
	}
	return nil
}

// unknown is the refusal of an option.
func unknown(p api.Pair) error {
	return invalid(fmt.Sprintf(" Unknown option: %s%s=%s\n Use keyword 'where' to modify condition", p.Name, p.Op, p.Value))
}

// value is the refusal of an option's value.
func value(p api.Pair, err error) error {
	var known *api.Error
	if errors.As(err, &known) {
		return err
	}
	return invalid(fmt.Sprintf(" Bad value for %s: %s: %v", p.Name, p.Value, err))
}

func (b *bookChange) put(c accounting.Change) { b.changes = append(b.changes, c) }
