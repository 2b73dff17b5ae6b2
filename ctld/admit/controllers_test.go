package admit

import (
	"strings"
	"testing"

	"muster/api"
)

// What of changes of the controllers never reaches the core.
func TestChangesOfControllersThatAreRefused(t *testing.T) {
	c := newFileCore(t)
	for _, x := range []struct {
		uid  uint32
		req  api.ControllersRequest
		want string
	}{
		{1000, api.ControllersRequest{Verb: api.VerbRemove, Name: "c1"}, "Invalid user"},
		{0, api.ControllersRequest{Verb: "crown", Name: "c1"}, "crown"},
		{0, api.ControllersRequest{Verb: api.VerbDemote}, "name"},
		{0, api.ControllersRequest{Verb: api.VerbAdd, Name: "c4", Address: "here"}, "host:port"},
		{0, api.ControllersRequest{Verb: api.VerbAdd, Name: "c4", Address: ":6817"}, "host:port"},
	} {
		err := c.call(t, x.uid, api.MethodControllers, &x.req, &api.ConfigureReply{})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v by %d: error %v, want one with %q", x.req, x.uid, err, x.want)
		}
	}
}
