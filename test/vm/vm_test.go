// Package vm runs the node's tests in a virtual machine whose kernel has cgroup v2
// and nothing else, as most machines of today do.
package vm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// kernelVariable names a kernel image to boot; without it one is downloaded.
const kernelVariable = "MUSTER_VM_KERNEL"

// programs are what the tests in the machine use besides themselves.
const programs = "sh sleep cat grep id head tail uname setsid env getent"

// suites are the test programs: package, and the tests of it that run there.
func suites() map[string]string {
	return map[string]string{
		"noded/cgroup": ".",
		"noded": "^(TestScriptRunsAndReports|TestDevicesOfOthersAreClosed|TestCPUsAreThoseOfTheJob|TestSuspendedJobStandsStill|TestLimitsAreThoseOfTheSubmitter|TestForkBombStopsAtTheProcessLimit|TestAllGroupsOfTheUser|" +
			"TestOrphansDoNotOutliveTheJob|TestDaemonRestartLosesNoExit|TestCancelAndTimeLimit|TestDeadShepherdIsNoSuccess|TestOutOfMemory|TestOtherBootIsRefusedAndBuried)$",
	}
}

func TestNodeOnPureCgroup2(t *testing.T) {
	if os.Getenv("MUSTER_FULL") == "" {
		t.Skip("needs MUSTER_FULL=1 (make test-full): it boots a virtual machine")
	}
	for _, tool := range []string{"qemu-system-x86_64", "cpio", "gzip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s (packages qemu-system-x86, cpio, gzip)", tool)
		}
	}
	kernel := kernelImage(t)
	root := t.TempDir()
	build(t, root)
	initrd := filepath.Join(t.TempDir(), "initrd.gz")
	sh(t, root, "find . | cpio --quiet -o -H newc -R 0:0 | gzip -1 >"+initrd)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "1500", "-nodefaults", "-no-user-config",
		"-display", "none", "-no-reboot", "-serial", "stdio", "-kernel", kernel, "-initrd", initrd,
		"-append", "console=ttyS0 quiet panic=-1 rdinit=/init")
	out, err := cmd.CombinedOutput()
	text := strings.ReplaceAll(string(out), "\r", "")
	t.Logf("the machine said:\n%s", text)
	if err != nil {
		t.Fatalf("qemu: %v", err)
	}
	for pkg := range suites() {
		if want := "init: " + filepath.Base(pkg) + ".test ended: <nil>\n"; !strings.Contains(text, want) {
			t.Errorf("the tests of %s did not pass in the machine", pkg)
		}
	}
	if skipped := regexp.MustCompile(`(?m)^\s*--- SKIP.*$`).FindAllString(text, -1); len(skipped) > 0 {
		t.Errorf("skipped in the machine: %q", skipped)
	}
}

// kernelImage is a kernel of Debian's with what is needed built in.
func kernelImage(t *testing.T) string {
	t.Helper()
	if k := os.Getenv(kernelVariable); k != "" {
		return k
	}
	dir := t.TempDir()
	out, err := exec.Command("sh", "-c", "cd "+dir+` &&
		apt-get download "$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')" &&
		dpkg-deb -x linux-image-*.deb .`).CombinedOutput()
	images, _ := filepath.Glob(filepath.Join(dir, "boot", "vmlinuz-*"))
	if err != nil || len(images) != 1 {
		t.Skipf("needs the package linux-image-cloud-amd64, which could not be downloaded (or $%s): %v\n%s", kernelVariable, err, out)
	}
	return images[0]
}

// build puts init, the test programs, and the programs that they use with their
// libraries, below root.
func build(t *testing.T, root string) {
	t.Helper()
	for _, dir := range []string{"tests", "etc", "dev", "proc", "sys", "run", "tmp", "usr/bin", "usr/lib", "usr/lib64"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"etc/passwd":        "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
		"etc/group":         "root:x:0:\nnogroup:x:65534:\n",
		"etc/nsswitch.conf": "passwd: files\ngroup: files\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	sh(t, top, "CGO_ENABLED=0 go build -o "+filepath.Join(root, "init")+" ./test/vm/init")
	for pkg, run := range suites() {
		file := filepath.Join(root, "tests", filepath.Base(pkg))
		sh(t, top, "CGO_ENABLED=0 go test -c -o "+file+".test ./"+pkg)
		if err := os.WriteFile(file+".args", []byte("-test.v\n-test.timeout=5m\n-test.run\n"+run+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// Each library as the dynamic linker names it.
	sh(t, root, "ln -s usr/bin usr/lib usr/lib64 .")
	sh(t, "/", `
		set -e
		PATH=/usr/bin:/bin
		for p in `+programs+`; do
			file=$(command -v $p)
			for f in $file $(ldd $file | grep -o '/[^ ]*'); do
				mkdir -p "`+root+`$(dirname $f)"
				cp -L -n $f "`+root+`$f"
			done
		done`)
}

// sh runs a command line in a directory.
func sh(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}
