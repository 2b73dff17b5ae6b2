package admit

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/internal/hostlist"
	"muster/job"
	"muster/partition"
	"muster/state"
)

// The refusals of reservations.
const (
	textCreate       = "Error creating the reservation: "
	textBusyNodes    = "Requested nodes are busy"
	textOverlap      = "Requested reservation overlaps with another reservation"
	textReservedName = "Duplicate reservation name"
	textInUse        = "Requested reservation is in use"
	textNeedsStart   = "scontrol: error: A start time must be given.  No reservation created."
	textNeedsEnd     = "scontrol: error: An end time or duration must be given.  No reservation created."
	textOnePartition = "\nNote, unless nodes are directly requested a reservation must exist in a single partition.\nIf no partition is requested the default partition is assumed."
	textNeedsNodes   = "scontrol: error: CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.  No reservation created."
	textDuration     = "scontrol: error: Invalid duration duration="
	textNoneMade     = ".  No reservation created."
	textNeedsUsers   = "scontrol: error: Either Users/Groups, AllowedPartitions, QOS and/or Accounts must be specified.  No reservation created."
)

// updateReservation is scontrol create, update and delete of a reservation:
// reservation.update. Only operators may.
func updateReservation(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.UpdateRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	u := &reservationUpdate{root: core.Root(), now: core.Now(), by: r.Caller.User, create: req.Action == "create", prefix: textUpdate}
	if u.create {
		u.prefix = textCreate
	}
	names, fields := splitTarget(req.Pairs, "ReservationName")
	if req.Action == "delete" {
		u.prefix = "delete_reservation reservation=" + strings.Join(names, ",") + ": "
	}
	if !r.Operates(u.root) && !u.mayDelete(&req, names, r) {
		return denied(u.prefix + slurm.TextInvalidUser)
	}
	cmd, err := u.command(req.Action, names, fields)
	if err != nil {
		return err
	}
	result, err := propose(ctx, core, r, seal(core, r, cmd))
	if err != nil {
		return err
	}
	switch result.Code {
	case state.OK:
	case state.Exists:
		return invalid(u.prefix + textReservedName)
	case state.InUse:
		return invalid(u.prefix + textInUse)
	default:
		return &api.Error{Kind: api.ErrState, Text: u.prefix + resultText(result.Code, result.Text)}
	}
	reply := &api.ChangeReply{}
	switch req.Action {
	case "create":
		reply.Output = "Reservation created: " + cmd.Value.Name
	case "update":
		reply.Output = "Reservation updated."
	}
	return send(r, reply)
}

// mayDelete tells whether a user who is no operator may delete a reservation: with
// USER_DELETE, those who may use it.
func (u *reservationUpdate) mayDelete(req *api.UpdateRequest, names []string, r *service.Request) bool {
	if req.Action != "delete" || len(names) != 1 {
		return false
	}
	v := u.root.Reservation(names[0])
	return v != nil && v.Has(partition.UserDelete) && service.MayUseReservation(u.root, r, v.Name)
}

// reservationUpdate is one call on its way.
type reservationUpdate struct {
	root     *state.Root
	now      job.Time
	by       string
	create   bool
	prefix   string // of Slurm's message
	value    partition.Reservation
	count    int         // NodeCnt=
	duration job.Minutes // 0: not given
	chosen   bool        // nodes were given
	all      bool        // the nodes given were ALL
}

// command makes the command of the call.
func (u *reservationUpdate) command(action string, names []string, fields []api.Pair) (*state.Reservation, error) {
	name := ""
	if len(names) > 0 {
		name = names[0]
	}
	old := u.root.Reservation(name)
	switch {
	case len(names) > 1 || len(name) > maxName || strings.ContainsAny(name, " ,\n\x00"):
		return nil, invalid(u.prefix + "Invalid reservation name")
	case u.create && old != nil:
		return nil, invalid(u.prefix + textReservedName)
	case !u.create && old == nil:
		return nil, &api.Error{Kind: api.ErrNotFound, Text: u.prefix + slurm.TextReservation}
	case action == "delete" && InUse(u.root, name):
		return nil, invalid(u.prefix + textInUse)
	case action == "delete":
		return &state.Reservation{Delete: true, Value: *old}, nil
	case action != "create" && action != "update":
		return nil, invalid("scontrol " + action + " is not known to this controller")
	}
	if u.create {
		u.value = partition.Reservation{Name: name, CreatedBy: u.by}
	} else {
		u.value = *old
	}
	for _, f := range fields {
		if err := u.set(f); err != nil {
			return nil, err
		}
	}
	if err := u.settle(); err != nil {
		return nil, err
	}
	return &state.Reservation{Create: u.create, Value: u.value}, nil
}

// set takes one field over.
func (u *reservationUpdate) set(f api.Pair) error {
	v := &u.value
	switch f.Name {
	case "StartTime", "EndTime":
		t, err := moment(f)
		if err != nil {
			return err
		}
		if f.Name == "StartTime" {
			if !u.create && v.Start != 0 && v.Start <= u.now {
				return invalid(u.prefix + "Reservation already started")
			}
			if u.duration == 0 && v.End != 0 && v.Start != 0 {
				v.End += t - v.Start // an update moves the whole
			}
			v.Start = t
		} else {
			v.End = t
		}
		return nil
	case "Duration":
		return u.setDuration(f)
	case "Skip":
		return u.skip()
	case "Users":
		return change(&v.Users, f)
	case "Accounts":
		return change(&v.Accounts, f)
	case "Flags":
		return u.setFlags(f)
	case "Nodes":
		return u.setNodes(f)
	case "NodeCnt":
		n, err := slurm.ParseNodeCount(f.Value)
		if err != nil || n.Min == 0 {
			return invalid("\"" + f.Value + "\" is not a valid node count")
		}
		u.count = int(n.Min)
		return nil
	case "PartitionName":
		if u.root.Partition(f.Value) == nil {
			return invalid(u.prefix + slurm.TextPartition)
		}
		v.Partition = f.Value
		return nil
	case "Comment":
		v.Comment = f.Value[:min(len(f.Value), maxName)]
		return nil
	case "Features":
		if _, err := partition.ParseFeatures(f.Value); err != nil {
			return hinted(u.prefix+slurm.TextFeature, err)
		}
		v.Features = f.Value
		return nil
	case "Licenses":
		return u.setLicenses(f)
	}
	return invalid("Update of this parameter is not supported: " + f.Name + "=" + f.Value)
}

// setDuration reads minutes or a time; += and -= change it.
func (u *reservationUpdate) setDuration(f api.Pair) error {
	m, err := slurm.ParseTimeLimit(f.Value)
	if err != nil {
		return invalid(textDuration + f.Value + textNoneMade)
	}
	if f.Op != "" && m != job.Unlimited {
		old := job.Minutes((u.value.End - u.value.Start) / 60_000)
		switch {
		case f.Op == "+":
			m += old
		case m >= old:
			return invalid(textDuration + f.Value + textNoneMade)
		default:
			m = old - m
		}
	}
	u.duration = m
	return nil
}

// change replaces a list, or adds to it or takes away from it.
func change(list *[]string, f api.Pair) error {
	words := strings.FieldsFunc(f.Value, func(r rune) bool { return r == ',' })
	if len(words) > 1000 {
		return invalid("More than 1000 names in " + f.Name)
	}
	switch f.Op {
	case "":
		*list = words
	case "+":
		for _, w := range words {
			if !slices.Contains(*list, w) {
				*list = append(slices.Clone(*list), w)
			}
		}
	default:
		*list = slices.DeleteFunc(slices.Clone(*list), func(x string) bool { return slices.Contains(words, x) })
	}
	return nil
}

func (u *reservationUpdate) setNodes(f api.Pair) error {
	names, err := nodesNamed(u.root, f.Value)
	if err != nil {
		return invalid(u.prefix + slurm.TextNodeName)
	}
	if f.Op != "" {
		current, err := hostlist.Expand(u.value.NodeList)
		if err != nil {
			current = nil
		}
		if err := change(&current, api.Pair{Name: f.Name, Op: f.Op, Value: strings.Join(names, ",")}); err != nil {
			return err
		}
		names = current
	}
	u.take(names)
	u.chosen, u.all = true, strings.EqualFold(f.Value, "ALL")
	return nil
}

// take makes names the nodes of the reservation.
func (u *reservationUpdate) take(names []string) {
	u.value.Nodes, u.value.NodeList = nil, hostlist.Compress(names)
	for _, n := range names {
		u.value.Nodes = append(u.value.Nodes, u.root.NodeNamed(n).ID)
	}
}

func (u *reservationUpdate) setLicenses(f api.Pair) error {
	l, err := partition.ParseLicenses(f.Value)
	if err != nil || l.Any {
		return invalid(u.prefix + slurm.TextLicense)
	}
	u.value.Licenses = l.List
	return nil
}

// settle checks the whole and chooses nodes if only a count was given.
func (u *reservationUpdate) settle() error {
	v := &u.value
	if u.duration == job.Unlimited {
		u.duration = longestReservation
	}
	if u.duration != 0 {
		v.End = v.Start + job.Time(u.duration)*60_000
	}
	switch {
	case v.Start == 0:
		return invalid(textNeedsStart)
	case v.End == 0 && u.create:
		return invalid(textNeedsEnd)
	case v.End != 0 && v.End <= v.Start:
		return invalid("scontrol: error: Start time cannot be after end time.  No reservation created.")
	case v.Start < u.now.Add(-startedBefore) && u.create:
		return invalid(u.prefix + slurm.TextTime)
	case len(v.Users) == 0 && len(v.Accounts) == 0 && u.create:
		return invalid(textNeedsUsers)
	case len(v.Users) == 0 && len(v.Accounts) == 0:
		return invalid(u.prefix + "Reservation request lacks users, groups or accounts")
	}
	book := u.root.Book()
	for _, a := range v.Accounts {
		if book.Account(strings.TrimPrefix(a, "-")) == nil {
			return invalid(u.prefix + slurm.TextAccount)
		}
	}
	if v.Name == "" {
		v.Name = u.freeName()
	}
	if err := u.settleFlags(); err != nil {
		return err
	}
	if u.chosen {
		u.markNodes()
	}
	if u.count > 0 && !u.chosen && v.Partition == "" {
		v.Partition = u.defaultPartition()
	}
	if u.count > 0 && !u.chosen {
		names := u.pick()
		if names == nil {
			return invalid(u.prefix + textBusyNodes + textOnePartition)
		}
		u.take(names)
	}
	switch {
	case len(v.Nodes) == 0 && len(v.Licenses) == 0 && v.Partition != "" && u.create && u.count == 0:
		u.take(u.partitionNodes())
	case len(v.Nodes) == 0 && len(v.Licenses) == 0:
		return invalid(textNeedsNodes)
	}
	for _, id := range v.Nodes {
		if u.overlaps(id) {
			return invalid(u.prefix + textOverlap)
		}
		if u.busy(id) {
			return invalid(u.prefix + textBusyNodes)
		}
	}
	return nil
}

// startedBefore is how far back the start of a new reservation may lie, as in Slurm.
const startedBefore = 600 * time.Second

// defaultPartition is where nodes are counted if no partition is named; "" is all.
func (u *reservationUpdate) defaultPartition() string {
	for p := range u.root.Partitions() {
		if p.Default {
			return p.Name
		}
	}
	return ""
}

// longestReservation is what Slurm makes of an unlimited duration: a year.
const longestReservation job.Minutes = 365 * 24 * 60

// freeName makes a name as Slurm does: the first user or account and a number.
func (u *reservationUpdate) freeName() string {
	base := first(append(slices.Clone(u.value.Users), u.value.Accounts...))
	base = strings.TrimPrefix(base, "-")
	for n := 1; ; n++ {
		if name := base + "_" + strconv.Itoa(n); u.root.Reservation(name) == nil {
			return name
		}
	}
}
