package ctld

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// get asks one page of a controller's web port.
func get(t *testing.T, h http.Handler, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(body)
}

func TestWebOfALeader(t *testing.T) {
	cs := newControllers(t, 1)
	cs.start("c1")
	leader, _ := cs.leader()
	cs.submit(1, "c1")
	web := leader.web()
	for _, path := range []string{"/livez", "/readyz"} {
		if code, body := get(t, web, path); code != http.StatusOK || body != "ok\n" {
			t.Errorf("%s: %d %q, want ok", path, code, body)
		}
	}
	code, body := get(t, web, "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d %q", code, body)
	}
	for _, want := range []string{"\nmuster_leading 1\n", "\nmuster_jobs 1\n", "\nmuster_held 0\n", "\nmuster_outbox 0\n",
		`muster_call_seconds_count{method="job.submit"} 1`, "# TYPE muster_scheduler_cycle_seconds histogram"} {
		if !strings.Contains(body, want) {
			t.Errorf("/metrics lacks %q:\n%s", want, body)
		}
	}
	if code, _ := get(t, web, "/nothing"); code != http.StatusNotFound {
		t.Errorf("/nothing: %d, want not found", code)
	}
}

// A controller without a majority lives, but is not ready; one whose replica
// failed is to be restarted.
func TestWebOfAControllerThatCannotAnswer(t *testing.T) {
	cs := newControllers(t, 3)
	cs.start("c1")
	c1 := cs.up["c1"]
	web := c1.web()
	if code, body := get(t, web, "/livez"); code != http.StatusOK {
		t.Errorf("/livez without a majority: %d %q, want ok", code, body)
	}
	if code, body := get(t, web, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "caught up") {
		t.Errorf("/readyz without a majority: %d %q, want that it has not caught up", code, body)
	}
	if _, body := get(t, web, "/metrics"); !strings.Contains(body, "\nmuster_leading 0\n") {
		t.Errorf("/metrics claims the lead:\n%s", body)
	}
	delete(cs.up, "c1") // it ends by itself
	c1.store.Diverged("the test says so")
	if code, body := get(t, web, "/livez"); code != http.StatusServiceUnavailable || !strings.Contains(body, "the test says so") {
		t.Errorf("/livez of a failed replica: %d %q, want why", code, body)
	}
	if err := <-c1.done; err == nil || !strings.Contains(err.Error(), "the test says so") {
		t.Errorf("it ended with %v", err)
	}
}
