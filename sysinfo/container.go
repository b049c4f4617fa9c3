package sysinfo

import (
	"io/fs"
	"strings"
)

// Container is the container that this process seems to run in.
type Container struct {
	// Kind is docker, podman, kubernetes, containerd, lxc, singularity,
	// systemd-nspawn or another name that the container gives itself; unknown
	// if only its isolation shows.
	Kind string `json:"kind"`
	// Evidence is what says so.
	Evidence string `json:"evidence"`
}

// cgroupNames are parts of control group paths and what makes them.
var cgroupNames = []struct{ part, kind string }{
	{"kubepods", "kubernetes"},
	{"/docker/", "docker"},
	{"/docker-", "docker"},
	{"libpod-", "podman"},
	{"cri-containerd", "containerd"},
	{"/lxc/", "lxc"},
	{"/lxc.payload", "lxc"},
}

// FindContainer looks for the traces that containers leave; nil if there are
// none, which does not prove that there is no container. It looks at
// .dockerenv, run/.containerenv, .singularity.d, run/systemd/container, the
// variables that proc/self/environ and proc/1/environ started with,
// proc/self/cgroup and proc/self/ns. A machine that was booted from a
// container's image has such files too: where the namespaces are known to be
// the host's, they do not count.
func FindContainer(fsys fs.FS) *Container {
	initial := make(map[string]bool)  // the namespace is the host's
	isolated := make(map[string]bool) // it is not
	namespaces, _ := ReadNamespaces(fsys)
	for _, n := range namespaces {
		initial[n.Kind] = n.Initial != nil && *n.Initial
		isolated[n.Kind] = n.Initial != nil && !*n.Initial
	}
	if initial["mnt"] {
		return nil
	}
	// Kubernetes runs its containers through runtimes that leave traces too:
	// the most specific answer goes first.
	for _, environ := range []string{"proc/self/environ", "proc/1/environ"} {
		if _, ok := variable(fsys, environ, "KUBERNETES_SERVICE_HOST"); ok {
			return &Container{"kubernetes", "/" + environ + " has KUBERNETES_SERVICE_HOST"}
		}
	}
	for _, file := range []struct {
		name, kind string
		shares     bool // the runtime leaves all but the mount namespace to the host
	}{
		{".dockerenv", "docker", false},
		{"run/.containerenv", "podman", false},
		{".singularity.d", "singularity", true},
	} {
		onHost := initial["pid"] && initial["ipc"] && initial["uts"] && !file.shares
		if exists(fsys, file.name) && !onHost {
			return &Container{file.kind, "/" + file.name + " exists"}
		}
	}
	if s := text(fsys, "run/systemd/container"); s != nil {
		return &Container{*s, "/run/systemd/container says so"}
	}
	for _, environ := range []string{"proc/self/environ", "proc/1/environ"} {
		if kind, ok := variable(fsys, environ, "container"); ok && kind != "" {
			return &Container{kind, "/" + environ + " has container=" + kind}
		}
	}
	if s := text(fsys, "proc/self/cgroup"); s != nil {
		for _, c := range cgroupNames {
			if strings.Contains(*s, c.part) {
				return &Container{c.kind, "/proc/self/cgroup has " + c.part}
			}
		}
	}
	if isolated["pid"] {
		return &Container{"unknown", "the PID namespace is not the host's"}
	}
	return nil
}

// variable returns the value of one variable of a NUL-separated environment.
func variable(fsys fs.FS, environ, name string) (string, bool) {
	b, err := fs.ReadFile(fsys, environ)
	if err != nil {
		return "", false
	}
	for entry := range strings.SplitSeq(string(b), "\x00") {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
