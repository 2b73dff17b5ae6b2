package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/internal/wire"
)

// message is what a call carries.
type message = wire.Message

// entityOf finds what an update is about by the first word that names one.
func entityOf(pairs []api.Pair) slurm.Entity {
	for _, p := range pairs {
		switch {
		case abbreviates(p.Name, "NodeName", 2):
			return slurm.UpdateNode
		case abbreviates(p.Name, "PartitionName", 2):
			return slurm.UpdatePartition
		case abbreviates(p.Name, "JobId", 1), abbreviates(p.Name, "JobName", 4):
			return slurm.UpdateJob
		case abbreviates(p.Name, "ReservationName", 3):
			return slurm.UpdateReservation
		}
	}
	return 0
}

// methodOf is the call that changes an entity.
func methodOf(e slurm.Entity) string {
	switch e {
	case slurm.UpdateNode:
		return api.MethodUpdateNode
	case slurm.UpdatePartition:
		return api.MethodUpdatePart
	case slurm.UpdateReservation:
		return api.MethodUpdateResv
	}
	return api.MethodUpdateJob
}

// splitPair splits Name=value, Name+=value and Name-=value.
func splitPair(word string) api.Pair {
	name, value, ok := strings.Cut(word, "=")
	p := api.Pair{Name: name, Value: value}
	if !ok {
		p.Op = "!" // no =
		return p
	}
	if n := len(name); n > 0 && (name[n-1] == '+' || name[n-1] == '-') {
		p.Name, p.Op = name[:n-1], name[n-1:]
	}
	return p
}

// joinedPairs takes a word without = and the next word for a field and its value,
// as scontrol does for jobs: update job 12 name x. Two fields need no value.
func joinedPairs(pairs []api.Pair) []api.Pair {
	var out []api.Pair
	for i := 0; i < len(pairs); i++ {
		p := pairs[i]
		name, _, _ := slurm.FindUpdateField(slurm.UpdateJob, p.Name)
		switch {
		case p.Op != "!" || name == "ResetAccrueTime":
		case name == "Nice":
			p.Op = ""
		case i+1 < len(pairs):
			i++
			p.Op, p.Value = "", pairs[i].Name
			if pairs[i].Op != "!" {
				p.Value += pairs[i].Op + "=" + pairs[i].Value
			}
		}
		out = append(out, p)
	}
	return out
}

// scontrolUpdate changes a job, node, partition or reservation.
func scontrolUpdate(in *invocation, o *scontrolOptions, words []string) int {
	pairs := make([]api.Pair, len(words))
	for i, w := range words {
		pairs[i] = splitPair(w)
	}
	entity := entityOf(joinedPairs(pairs))
	if entity == slurm.UpdateJob {
		pairs = joinedPairs(pairs)
	}
	// A first word such as "node" may stand before the pairs.
	if entity == 0 && pairs[0].Op == "!" {
		if entity = entityWord(pairs[0].Name); entity != 0 {
			pairs = pairs[1:]
		}
	}
	if entity == 0 {
		fmt.Fprintln(in.stderr, "No valid entity in update command")
		fmt.Fprintln(in.stderr, "Input line must include \"NodeName\", \"PartitionName\", \"Reservation\", \"JobId\", or \"SlurmctldDebug\"")
		return 1
	}
	return in.sendUpdate(o, "update", entity, pairs)
}

// entityWord reads job, node, partition or reservation.
func entityWord(word string) slurm.Entity {
	switch {
	case abbreviates(word, "job", 1):
		return slurm.UpdateJob
	case abbreviates(word, "node", 1):
		return slurm.UpdateNode
	case abbreviates(word, "partition", 1):
		return slurm.UpdatePartition
	case abbreviates(word, "reservation", 3):
		return slurm.UpdateReservation
	}
	return 0
}

// scontrolCreate creates a reservation or a partition. Nodes come with the cluster
// file.
func scontrolCreate(in *invocation, o *scontrolOptions, words []string) int {
	pairs := make([]api.Pair, 0, len(words))
	entity := slurm.Entity(0)
	for i, w := range words {
		p := splitPair(w)
		if i == 0 && p.Op == "!" {
			entity = entityWord(p.Name)
			continue
		}
		pairs = append(pairs, p)
	}
	if entity == 0 {
		entity = entityOf(pairs)
	}
	switch entity {
	case slurm.UpdateReservation, slurm.UpdatePartition:
		return in.sendUpdate(o, "create", entity, pairs)
	case slurm.UpdateNode:
		fmt.Fprintln(in.stderr, "scontrol: nodes are made in the cluster file: change it and use muster conf apply")
		return 1
	}
	in.errorf("Invalid creation entity: %s", words[0])
	return 1
}

// scontrolDelete deletes a reservation or a partition.
func scontrolDelete(in *invocation, o *scontrolOptions, words []string) int {
	if len(words) == 2 && entityWord(words[0]) == slurm.UpdateReservation && !strings.Contains(words[1], "=") {
		words = []string{"ReservationName=" + words[1]}
	}
	p := splitPair(words[len(words)-1])
	switch {
	case p.Op == "" && abbreviates(p.Name, "ReservationName", 3):
		return in.sendUpdate(o, "delete", slurm.UpdateReservation, []api.Pair{p})
	case p.Op == "" && abbreviates(p.Name, "PartitionName", 1):
		p.Name = "PartitionName"
		return in.sendUpdate(o, "delete", slurm.UpdatePartition, []api.Pair{p})
	case abbreviates(p.Name, "NodeName", 1):
		fmt.Fprintln(in.stderr, "scontrol: nodes are removed in the cluster file: change it and use muster conf apply")
		return 1
	}
	if len(words) == 1 && entityWord(words[0]) == slurm.UpdateReservation {
		in.errorf("Proper format is 'delete <ENTITY>=<ID>' or 'delete <ENTITY> <ID>'")
		return 1
	}
	fmt.Fprintf(in.stderr, "Invalid deletion entity: %s\n", words[0])
	return 1
}

// sendUpdate checks the names of the fields, resolves times in the user's zone
// and makes the call.
func (in *invocation) sendUpdate(o *scontrolOptions, action string, entity slurm.Entity, pairs []api.Pair) int {
	request := &api.UpdateRequest{Action: action}
	for _, p := range pairs {
		resolved, use, ok := in.resolvePair(action, entity, p)
		if !ok {
			return 1
		}
		if use {
			request.Pairs = append(request.Pairs, resolved)
		}
	}
	if action == "create" && !in.creates(entity, request.Pairs) {
		return 1
	}
	var reply api.ChangeReply
	if code := in.change(o, methodOf(entity), request, &reply); code != 0 {
		return code
	}
	return in.reportFailures(o, &reply)
}

// creates tells whether what is needed to make something is given, and says what
// is not.
func (in *invocation) creates(entity slurm.Entity, pairs []api.Pair) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(pairs, func(p api.Pair) bool { return slices.Contains(names, p.Name) })
	}
	switch {
	case entity == slurm.UpdatePartition && len(pairs) == 0:
		in.errorf("Invalid input: partition  Request aborted")
	case entity == slurm.UpdateReservation && !has("StartTime"):
		in.errorf("A start time must be given.  No reservation created.")
	case entity == slurm.UpdateReservation && !has("EndTime", "Duration"):
		in.errorf("An end time or duration must be given.  No reservation created.")
	default:
		return true
	}
	return false
}

// resolvePair finds the full name of a field, looks at its value, and makes moments
// absolute. use is false for a field that is passed over.
func (in *invocation) resolvePair(action string, entity slurm.Entity, p api.Pair) (_ api.Pair, use, ok bool) {
	name, isTime, ok := slurm.FindUpdateField(entity, p.Name)
	done := "update"
	if action == "create" {
		done = "created"
	}
	switch {
	case p.Op == "!" && entity == slurm.UpdateNode:
		in.errorf("Invalid input: %s  Request aborted", p.Name)
		return p, false, false
	case p.Op == "!" && !(ok && (name == "ResetAccrueTime" || name == "Skip")):
		fmt.Fprintf(in.stderr, "Invalid input: %s\nRequest aborted\n", p.Name)
		return p, false, false
	case !ok && entity == slurm.UpdateReservation:
		in.errorf("Unknown parameter %s=%s.  No reservation %s.", p.Name, p.Value, done)
		return p, false, false
	case !ok:
		fmt.Fprintf(in.stderr, "Update of this parameter is not supported: %s=%s\nRequest aborted\n", p.Name, p.Value)
		return p, false, false
	}
	typed := p.Name
	p.Name = name
	if entity == slurm.UpdateReservation && name == "Users" && !in.knownUsers(p.Value) {
		return p, false, false
	}
	if entity == slurm.UpdateJob && !in.checkJobField(&p, typed) {
		return p, false, false
	}
	if !isTime || p.Value == "" || entity == slurm.UpdateJob && p.Value == "0" {
		return p, true, true
	}
	t, err := slurm.ParseTime(p.Value, in.now(), slurm.Future)
	if err != nil || t.IsZero() {
		if err != nil {
			fmt.Fprintln(in.stderr, err)
		}
		if entity == slurm.UpdateJob {
			return p, false, true // as if it were not there
		}
		in.errorf("Invalid %s time %s=%s.  No reservation %s.", strings.ToLower(strings.TrimSuffix(p.Name, "Time")), typed, p.Value, done)
		return p, false, false
	}
	p.Value = strconv.FormatInt(t.Unix(), 10)
	return p, true, true
}

// knownUsers tells whether the users that a reservation names exist on this host.
func (in *invocation) knownUsers(list string) bool {
	for _, name := range words(list) {
		if name = strings.TrimLeft(name, "+-"); name != "" && !userExists(name) {
			fmt.Fprintln(in.stderr, "Error creating the reservation: Unspecified error")
			fmt.Fprintf(in.stderr, "scontrol: there is no user %q on this host\n", name)
			return false
		}
	}
	return true
}
