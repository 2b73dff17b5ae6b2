package ctld

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"muster/ctld/query"
)

// serveWeb answers /livez, /readyz and /metrics over plain HTTP, reading only.
func (c *Controller) serveWeb(ctx context.Context) error {
	l, err := net.Listen("tcp", c.cfg.Web)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: c.web(), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		srv.Close()
	}()
	err = srv.Serve(l)
	if ctx.Err() != nil && errors.Is(err, http.ErrServerClosed) {
		<-done
		return nil
	}
	return err
}

func (c *Controller) web() http.Handler {
	c.gauges()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		if err := c.store.Err(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if c.store.Leading() == 0 && !c.caughtUp() {
			http.Error(w, "this controller has not caught up with a leader", http.StatusServiceUnavailable)
			return
		}
		if missing := c.ledger.missing(c.store.Root()); missing > 0 {
			http.Error(w, c.ledger.behind(missing).Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(c.stats.registry, promhttp.HandlerOpts{}))
	return mux
}

// gauges registers what is read when it is asked for.
func (c *Controller) gauges() {
	add := func(name, help string, f func() float64) {
		c.stats.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
	}
	add("muster_leading", "1 on the controller that leads.", func() float64 {
		return float64(min(c.store.Leading(), 1))
	})
	add("muster_held", "1 while no changes are taken because states differ.", func() float64 {
		if c.store.Held() {
			return 1
		}
		return 0
	})
	add("muster_index", "Raft index of the state here.", func() float64 { return float64(c.store.Root().Index()) })
	add("muster_jobs", "Job records in memory.", func() float64 { return float64(c.store.Root().JobCount()) })
	add("muster_outbox", "Finished jobs not yet on the disk of all controllers.", func() float64 {
		first, next := c.store.Root().OutboxRange()
		return float64(next - first)
	})
	add("muster_ledger_missing", "Finished jobs that this controller's ledger lacks; it fetches them from the others.", func() float64 {
		return float64(c.ledger.missing(c.store.Root()))
	})
	add("muster_gpus_free", "GPUs that no job holds.", func() float64 {
		_, free := query.Fragmentation(c.store.Root())
		return free
	})
	add("muster_gpus_fragmented", "Of the free GPUs, those that the next job is expected not to be able to use: the mean over the jobs that wait and run.", func() float64 {
		frag, _ := query.Fragmentation(c.store.Root())
		return frag
	})
	add("muster_state_age_seconds", "How old the state here may be.", func() float64 { return float64(c.age()) / 1000 })
}
