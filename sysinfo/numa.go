package sysinfo

import (
	"fmt"
	"io/fs"
)

const nodeDir = "sys/devices/system/node"

// NUMANode is one memory node, from sys/devices/system/node/node<n>.
type NUMANode struct {
	// ID is n.
	ID int `json:"id"`
	// CPUs of the node, from cpulist; none for memory that has no CPUs, such as
	// that of a GPU with coherent memory.
	CPUs List `json:"cpus,omitempty"`
	// Total and Free are MemTotal and MemFree of the node's meminfo, in bytes.
	Total *uint64 `json:"total_bytes,omitempty"`
	Free  *uint64 `json:"free_bytes,omitempty"`
	// Distances to all online nodes in ascending order of their IDs, from
	// distance; 10 is local (ACPI SLIT).
	Distances []uint32 `json:"distances,omitempty"`
	// HugePages are the node's own pools, from hugepages, ascending by size.
	HugePages []HugePool `json:"huge_pages,omitempty"`
}

// ReadNUMA reads the online nodes, ascending. It fails with an error that wraps
// fs.ErrNotExist where the kernel shows no nodes.
func ReadNUMA(fsys fs.FS) ([]NUMANode, error) {
	if _, err := fs.ReadDir(fsys, nodeDir); err != nil {
		return nil, fmt.Errorf("read %s: %w", nodeDir, cause(err))
	}
	var nodes []NUMANode
	for _, n := range numbered(fsys, nodeDir, "node") {
		dir := fmt.Sprintf("%s/node%d", nodeDir, n)
		node := NUMANode{
			ID:        n,
			CPUs:      list(fsys, dir+"/cpulist"),
			HugePages: readHugePools(fsys, dir+"/hugepages"),
		}
		if s := text(fsys, dir+"/distance"); s != nil {
			node.Distances = ids(*s)
		}
		if s := text(fsys, dir+"/meminfo"); s != nil {
			if info, err := parseMeminfo(*s); err == nil {
				node.Total, node.Free = lookup(info, "MemTotal"), lookup(info, "MemFree")
			}
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// NodeOf returns the node that a CPU belongs to, false if none has it.
func NodeOf(nodes []NUMANode, cpu int) (id int, ok bool) {
	for _, n := range nodes {
		if n.CPUs.Contains(cpu) {
			return n.ID, true
		}
	}
	return 0, false
}
