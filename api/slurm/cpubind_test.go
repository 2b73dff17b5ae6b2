package slurm

import (
	"strings"
	"testing"
)

// TestCPUBind: what the variables say, as srun 26.05 sets them; "" is a refusal.
func TestCPUBind(t *testing.T) {
	for value, want := range map[string]string{
		"cores":               "quiet,cores||cores|quiet",
		"v,none":              "verbose,none||none|verbose",
		"verbose":             "verbose|||verbose",
		"q,socket":            "quiet,sockets||sockets|quiet",
		"map_cpu:0,1":         "quiet,map_cpu:0,1|0,1|map_cpu:|quiet",
		"verbose,mask_cpu:f0": "verbose,mask_cpu:f0|f0|mask_cpu:|verbose",
		"map_cpu:0*4,0x3":     "quiet,map_cpu:0*4,0x3|0*4,0x3|map_cpu:|quiet",
		"Rank_LDom":           "quiet,rank_ldom||rank_ldom|quiet",
		"rank":                "",
		"map_cpu":             "",
		"map_cpu:f":           "",
		"map_cpu:0*0":         "",
		"map_cpu:0*99999999":  "",
		"mask_cpu:g":          "",
		"cores,rubbish":       "",
	} {
		b, err := ParseCPUBind(value)
		var got []string
		if err == nil {
			for _, v := range b.Variables() {
				_, v, _ = strings.Cut(v, "=")
				got = append(got, v)
			}
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("--cpu-bind=%s: %q (%v), want %q", value, s, err, want)
		}
	}
}
