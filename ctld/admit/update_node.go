package admit

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"muster/api"
	"muster/api/slurm"
	"muster/ctld/service"
	"muster/internal/hostlist"
	"muster/state"
)

// textUpdate is what scontrol prints before the reason of a refusal.
const textUpdate = "slurm_update error: "

// nodeStates are the states that an admin may ask for; scontrol takes any start
// of at least three letters.
var nodeStates = []string{"DOWN", "DRAIN", "FAIL", "FUTURE", "IDLE", "RESUME", "UNDRAIN"}

// updateNode is scontrol update NodeName=: node.update. Only administrators may.
func updateNode(ctx context.Context, core service.Core, r *service.Request) error {
	var req api.UpdateRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	names, fields := splitTarget(req.Pairs, "NodeName")
	cmd := &state.NodeAdmin{}
	for _, p := range fields {
		if err := setNodeField(cmd, p); err != nil {
			return err
		}
	}
	if !r.Administers(core.Root()) {
		return denied(textUpdate + slurm.TextInvalidUser)
	}
	if (cmd.State == "DOWN" || cmd.State == "DRAIN" || cmd.State == "FAIL") && (cmd.Reason == nil || *cmd.Reason == "") {
		return invalid("You must specify a reason when DOWNING or DRAINING a node. Request denied")
	}
	root := core.Root()
	for _, list := range names {
		expanded, err := nodesNamed(root, list)
		if err != nil {
			return err
		}
		cmd.Names = append(cmd.Names, expanded...)
	}
	if len(cmd.Names) == 0 || len(fields) == 0 {
		return invalid("No changes specified")
	}
	result, err := propose(ctx, core, r, seal(core, r, cmd))
	if err != nil {
		return err
	}
	if result.Code != state.OK {
		return &api.Error{Kind: api.ErrState, Text: textUpdate + resultText(result.Code, result.Text)}
	}
	return send(r, &api.ChangeReply{})
}

// nodesNamed lists the nodes of an expression, ALL for all; each must exist.
func nodesNamed(root *state.Root, list string) ([]string, error) {
	var out []string
	if strings.EqualFold(list, "ALL") {
		for n := range root.Nodes() {
			out = append(out, n.Name)
		}
		return out, nil
	}
	names, err := hostlist.Expand(list)
	if err != nil {
		return nil, &api.Error{Kind: api.ErrInvalid, Text: textUpdate + slurm.TextNodeName, Hint: err.Error()}
	}
	for _, n := range names {
		if root.NodeNamed(n) == nil {
			return nil, &api.Error{Kind: api.ErrNotFound, Text: textUpdate + slurm.TextNodeName, Hint: fmt.Sprintf("there is no node %q", n)}
		}
	}
	return names, nil
}

// setNodeField takes one field over.
func setNodeField(cmd *state.NodeAdmin, p api.Pair) error {
	value := p.Value
	if len(value) > maxName {
		return badValue(api.Pair{Name: p.Name, Value: "too long"})
	}
	if p.Op != "" {
		return invalid("Option " + p.Name + " does not accept [+|-]= syntax")
	}
	switch p.Name {
	case "State":
		word, ok := nodeState(value)
		if !ok {
			return invalid("Invalid input: state=" + value + "\nRequest aborted\n" +
				"Valid states are: NoResp DRAIN FAIL FUTURE RESUME POWER_DOWN POWER_UP UNDRAIN\n" +
				"Not all states are valid given a node's prior state")
		}
		cmd.State = word
	case "Reason":
		cmd.Reason = &value
	case "Comment":
		cmd.Comment = &value
	case "Extra":
		cmd.Extra = &value
	case "Weight":
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return badValue(p)
		}
		weight := uint32(n)
		cmd.Weight = &weight
	case "Features", "ActiveFeatures":
		cmd.SetFeat, cmd.SetActive = p.Name == "Features", p.Name == "ActiveFeatures"
		cmd.Features = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
	default:
		return invalid("Update of this parameter is not supported: " + p.Name + "=" + value + "\nRequest aborted")
	}
	return nil
}

// nodeState finds the state that a word is the start of.
func nodeState(word string) (string, bool) {
	word = strings.ToUpper(word)
	for _, s := range nodeStates {
		if s == word || len(word) >= 3 && strings.HasPrefix(s, word) {
			return s, true
		}
	}
	return "", false
}
