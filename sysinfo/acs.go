package sysinfo

import "encoding/binary"

// ACS is the Access Control Services capability of a bridge (PCI Express Base
// Specification, 7.7.11; linux/pci_regs.h, PCI_ACS_*). The bits of Capability
// say what the bridge can do, those of Control what is switched on.
type ACS struct {
	Capability uint16 `json:"capability"`
	Control    uint16 `json:"control"`
}

// Bits of an ACS register.
const (
	ACSSourceValidation   = 1 << 0
	ACSTranslationBlock   = 1 << 1
	ACSRequestRedirect    = 1 << 2 // peer requests go up to the root complex
	ACSCompletionRedirect = 1 << 3 // so do peer completions
	ACSUpstreamForwarding = 1 << 4
	ACSEgressControl      = 1 << 5
	ACSDirectTranslated   = 1 << 6
)

// RedirectsPeers reports whether the bridge sends traffic between devices below
// it up to the root complex, where an IOMMU may translate or block it. Peer
// access is then slower, or fails, or reads other data than was written.
func (a ACS) RedirectsPeers() bool {
	return a.Control&(ACSRequestRedirect|ACSCompletionRedirect) != 0
}

const (
	extendedConfig = 0x100  // where extended capabilities start
	configSize     = 0x1000 // of a PCI Express function
	acsID          = 0x000d // PCI_EXT_CAP_ID_ACS
)

// parseACS walks the extended capabilities in a configuration space for ACS.
// readable is false if config does not reach the extended part: without
// privilege sysfs shows the first 64 bytes only, and a conventional PCI device
// has 256.
func parseACS(config []byte) (acs *ACS, readable bool) {
	config = config[:min(len(config), configSize)]
	if len(config) < extendedConfig+4 {
		return nil, false
	}
	// Each header is the capability's ID in bits 0-15 and the next one's offset
	// in bits 20-31. A list that turns back on itself would not end: there is
	// no room for more headers than this.
	offset := extendedConfig
	for range (configSize - extendedConfig) / 4 {
		if offset < extendedConfig || offset+4 > len(config) {
			break
		}
		header := binary.LittleEndian.Uint32(config[offset:])
		if header == 0 || header == 0xffffffff {
			break
		}
		if header&0xffff == acsID && offset+8 <= len(config) {
			return &ACS{
				Capability: binary.LittleEndian.Uint16(config[offset+4:]),
				Control:    binary.LittleEndian.Uint16(config[offset+6:]),
			}, true
		}
		offset = int(header>>20) &^ 3
	}
	return nil, true
}
