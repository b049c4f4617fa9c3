package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gpushare-bench/share"
)

// devicePair is an ordered pair of devices.
type devicePair struct{ producer, consumer share.DeviceInfo }

// pairGroups are the words that stand for several pairs.
var pairGroups = []string{"all", "same", "peer"}

// maxDefaultGPUs bounds the GPUs whose pairs are all measured when no pair was asked for.
const maxDefaultGPUs = 2

// choosePairs expands what was asked for. Devices are named by index, ID (UUID), a unique start of the ID, PCI address,
// or "cpu". No device of another backend than the host's means that the pair is cpu:cpu.
func choosePairs(asked []string, devices []share.DeviceInfo, links []share.Link) ([]devicePair, error) {
	var gpus []share.DeviceInfo
	for _, d := range devices {
		if d.Backend != "host" {
			gpus = append(gpus, d)
		}
	}
	if len(asked) == 0 {
		asked = defaultPairs(gpus)
	}
	var pairs []devicePair
	add := func(p, c share.DeviceInfo) {
		have := func(q devicePair) bool { return q.producer.ID == p.ID && q.consumer.ID == c.ID }
		if !slices.ContainsFunc(pairs, have) {
			pairs = append(pairs, devicePair{p, c})
		}
	}
	for _, a := range asked {
		switch a {
		case "all", "same", "peer":
			if len(gpus) == 0 {
				cpu, err := findDevice("cpu", devices)
				if err != nil {
					return nil, err
				}
				add(cpu, cpu)
			}
			for _, p := range gpus {
				for _, c := range gpus {
					if a == "all" || a == "same" && p.ID == c.ID || a == "peer" && p.ID != c.ID && isPeer(links, p.ID, c.ID) {
						add(p, c)
					}
				}
			}
		default:
			p, c, err := ParsePair(a)
			if err != nil {
				return nil, err
			}
			producer, err := findDevice(p, devices)
			if err != nil {
				return nil, fmt.Errorf("--pair %q: %w", a, err)
			}
			consumer, err := findDevice(c, devices)
			if err != nil {
				return nil, fmt.Errorf("--pair %q: %w", a, err)
			}
			add(producer, consumer)
		}
	}
	if len(pairs) == 0 {
		return nil, Usagef("--pair %s: no two GPUs of this machine can address each other's memory", strings.Join(asked, ","))
	}
	return pairs, nil
}

func defaultPairs(gpus []share.DeviceInfo) []string {
	switch {
	case len(gpus) == 0:
		return []string{"cpu:cpu"}
	case len(gpus) <= maxDefaultGPUs:
		return []string{"all", "0:cpu", "cpu:0"}
	}
	return []string{"0:0", "0:1", "1:0", "0:cpu", "cpu:0"}
}

// ParsePair splits PRODUCER:CONSUMER. A PCI address contains colons itself ("0000:17:00.0:cpu"), so the split is the
// one that leaves two names of devices.
func ParsePair(s string) (producer, consumer string, err error) {
	parts := strings.Split(s, ":")
	for i := 1; i < len(parts); i++ {
		p, c := strings.Join(parts[:i], ":"), strings.Join(parts[i:], ":")
		if isDeviceName(p) && isDeviceName(c) {
			return p, c, nil
		}
	}
	return "", "", Usagef("--pair %q: want all, same, peer or PRODUCER:CONSUMER, each cpu or a GPU's index, UUID or PCI address, such as 0:1 or 0:cpu", s)
}

// isDeviceName reports whether s has the form of "cpu", an index, a UUID or a PCI address.
func isDeviceName(s string) bool {
	if s == "cpu" || strings.HasPrefix(s, "GPU-") || strings.HasPrefix(s, "MIG-") {
		return !strings.Contains(s, ":")
	}
	if _, err := strconv.ParseUint(s, 10, 16); err == nil {
		return true
	}
	_, err := parsePCI(s)
	return err == nil
}

// pciAddress is a PCI address. domain is -1 where none was given.
type pciAddress struct{ domain, bus, device, function int64 }

// parsePCI reads [domain:]bus:device.function, all in hexadecimal.
func parsePCI(s string) (pciAddress, error) {
	bad := fmt.Errorf("PCI address %q: want [domain:]bus:device.function", s)
	head, function, ok := strings.Cut(s, ".")
	parts := strings.Split(head, ":")
	if !ok || len(function) != 1 || len(parts) < 2 || len(parts) > 3 {
		return pciAddress{}, bad
	}
	var n []int64
	for _, p := range append(parts, function) {
		v, err := strconv.ParseUint(p, 16, 32)
		if err != nil {
			return pciAddress{}, bad
		}
		n = append(n, int64(v))
	}
	if len(n) == 3 {
		n = append([]int64{-1}, n...)
	}
	return pciAddress{n[0], n[1], n[2], n[3]}, nil
}

// is reports whether a device has the address; one without a domain fits any.
func (a pciAddress) is(device string) bool {
	d, err := parsePCI(device)
	if a.domain < 0 {
		d.domain = a.domain
	}
	return err == nil && a == d
}

func findDevice(name string, devices []share.DeviceInfo) (share.DeviceInfo, error) {
	var found []share.DeviceInfo
	address, notPCI := parsePCI(name)
	for _, d := range devices {
		match := d.ID == name
		switch {
		case d.Backend == "host":
		case strings.HasPrefix(name, "GPU-") || strings.HasPrefix(name, "MIG-"):
			match = strings.HasPrefix(d.ID, name)
		case notPCI == nil:
			match = address.is(d.PCI)
		default:
			match = strconv.Itoa(d.Index) == name
		}
		if match {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return share.DeviceInfo{}, Usagef("no device %q here; this machine has %s", name, deviceNames(devices))
	}
	return share.DeviceInfo{}, Usagef("device %q is ambiguous: %s", name, deviceNames(found))
}

func deviceNames(devices []share.DeviceInfo) string {
	if len(devices) == 0 {
		return "none"
	}
	var names []string
	for _, d := range devices {
		if d.Backend == "host" {
			names = append(names, d.ID)
		} else {
			names = append(names, fmt.Sprintf("%d (%s, %s)", d.Index, d.Name, d.ID))
		}
	}
	return strings.Join(names, ", ")
}

func isPeer(links []share.Link, p, c string) bool {
	for _, l := range links {
		if l.Producer == p && l.Consumer == c {
			return l.Peer != nil && *l.Peer
		}
	}
	return false
}

// linkClass is the class of the pair's link: "same" for one GPU, "cpu" for host memory alone.
func linkClass(links []share.Link, p, c share.DeviceInfo) string {
	for _, l := range links {
		if l.Producer == p.ID && l.Consumer == c.ID {
			return l.Class
		}
	}
	switch {
	case p.ID == c.ID && p.Backend == "host":
		return "cpu"
	case p.ID == c.ID:
		return "same"
	}
	return ""
}
