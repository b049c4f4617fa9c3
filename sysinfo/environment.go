package sysinfo

import (
	"context"
	"fmt"
	"io/fs"
	"os"
)

// Environment is what a run should record about the machine and the process.
// Its JSON names are stable: a name's meaning never changes, new names may
// come. What could not be read is absent, and Missing says why.
type Environment struct {
	// Hostname as of proc/sys/kernel/hostname.
	Hostname *string  `json:"hostname,omitempty"`
	Kernel   *Kernel  `json:"kernel,omitempty"`
	Machine  *Machine `json:"machine,omitempty"`
	CPU      *CPU     `json:"cpu,omitempty"`
	// PageSize is the base page in bytes (os.Getpagesize): 65536 on some Arm
	// kernels.
	PageSize int     `json:"page_size_bytes"`
	Memory   *Memory `json:"memory,omitempty"`
	// UsableMemory is what UsableMemory returns, in bytes.
	UsableMemory *uint64      `json:"usable_memory_bytes,omitempty"`
	Cgroup       *Cgroup      `json:"cgroup,omitempty"`
	NUMA         []NUMANode   `json:"numa,omitempty"`
	Limits       *Limits      `json:"limits,omitempty"`
	Process      *Process     `json:"process,omitempty"`
	Namespaces   []Namespace  `json:"namespaces,omitempty"`
	Container    *Container   `json:"container,omitempty"`
	IOMMU        *IOMMU       `json:"iommu,omitempty"`
	Devices      []DeviceNode `json:"devices,omitempty"`
	Udmabuf      *Udmabuf     `json:"udmabuf,omitempty"`
	Load         *Load        `json:"load,omitempty"`
	// Missing has a line for each part that was not read: the file and the
	// system's answer.
	Missing []string `json:"missing,omitempty"`
}

// Collect reads everything that an Environment has. It never fails as a whole:
// a part that cannot be read is nil and named in Missing, and so are all that
// remain when ctx ends. It takes a few milliseconds, and grows with the number
// of CPUs.
func Collect(ctx context.Context, fsys fs.FS) Environment {
	e := Environment{PageSize: os.Getpagesize()}
	collect := func(part string, read func() error) {
		err := context.Cause(ctx)
		if err == nil {
			err = read()
		}
		if err != nil {
			e.Missing = append(e.Missing, fmt.Sprintf("%s: %v", part, err))
		}
	}
	collect("kernel", func() error {
		e.Hostname = Hostname(fsys)
		return into(&e.Kernel, ReadKernel, fsys)
	})
	collect("machine", func() error { e.Machine = ReadMachine(fsys); return nil })
	collect("cpu", func() error { return into(&e.CPU, ReadCPU, fsys) })
	collect("memory", func() error { return into(&e.Memory, ReadMemory, fsys) })
	collect("cgroup", func() error { return into(&e.Cgroup, ReadCgroup, fsys) })
	collect("numa", func() (err error) { e.NUMA, err = ReadNUMA(fsys); return err })
	collect("limits", func() error { return into(&e.Limits, ReadLimits, fsys) })
	collect("process", func() error { return into(&e.Process, ReadProcess, fsys) })
	collect("namespaces", func() (err error) { e.Namespaces, err = ReadNamespaces(fsys); return err })
	collect("container", func() error { e.Container = FindContainer(fsys); return nil })
	collect("iommu", func() error { e.IOMMU = ReadIOMMU(fsys); return nil })
	collect("devices", func() error {
		e.Devices, e.Udmabuf = SharingDevices(fsys), ReadUdmabuf(fsys)
		return nil
	})
	collect("load", func() error { return into(&e.Load, ReadLoad, fsys) })
	if e.Memory != nil {
		var c Cgroup
		if e.Cgroup != nil {
			c = *e.Cgroup
		}
		e.UsableMemory = usableMemory(*e.Memory, c)
	}
	return e
}

// into stores what a reader returns, nil if it fails.
func into[T any](dst **T, read func(fs.FS) (T, error), fsys fs.FS) error {
	v, err := read(fsys)
	if err != nil {
		return err
	}
	*dst = &v
	return nil
}
