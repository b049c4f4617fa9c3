package sysinfo

import (
	"fmt"
	"strconv"
)

// armCores names the cores by implementer and part number of MIDR_EL1 (Arm
// Architecture Reference Manual; the makers' technical reference manuals).
var armCores = map[[2]uint64]string{
	{0x41, 0xd03}: "Arm Cortex-A53",
	{0x41, 0xd04}: "Arm Cortex-A35",
	{0x41, 0xd05}: "Arm Cortex-A55",
	{0x41, 0xd07}: "Arm Cortex-A57",
	{0x41, 0xd08}: "Arm Cortex-A72",
	{0x41, 0xd09}: "Arm Cortex-A73",
	{0x41, 0xd0a}: "Arm Cortex-A75",
	{0x41, 0xd0b}: "Arm Cortex-A76",
	{0x41, 0xd0c}: "Arm Neoverse N1",
	{0x41, 0xd0d}: "Arm Cortex-A77",
	{0x41, 0xd40}: "Arm Neoverse V1",
	{0x41, 0xd41}: "Arm Cortex-A78",
	{0x41, 0xd42}: "Arm Cortex-A78AE",
	{0x41, 0xd44}: "Arm Cortex-X1",
	{0x41, 0xd46}: "Arm Cortex-A510",
	{0x41, 0xd47}: "Arm Cortex-A710",
	{0x41, 0xd48}: "Arm Cortex-X2",
	{0x41, 0xd49}: "Arm Neoverse N2",
	{0x41, 0xd4d}: "Arm Cortex-A715",
	{0x41, 0xd4e}: "Arm Cortex-X3",
	{0x41, 0xd4f}: "Arm Neoverse V2",
	{0x41, 0xd80}: "Arm Cortex-A520",
	{0x41, 0xd81}: "Arm Cortex-A720",
	{0x41, 0xd82}: "Arm Cortex-X4",
	{0x41, 0xd83}: "Arm Neoverse V3AE",
	{0x41, 0xd84}: "Arm Neoverse V3",
	{0x41, 0xd85}: "Arm Cortex-X925",
	{0x41, 0xd87}: "Arm Cortex-A725",
	{0x41, 0xd8e}: "Arm Neoverse N3",
	{0x46, 0x001}: "Fujitsu A64FX",
	{0x48, 0xd01}: "HiSilicon TaiShan v110",
	{0x4e, 0x003}: "NVIDIA Denver 2",
	{0x4e, 0x004}: "NVIDIA Carmel",
	{0x4e, 0x010}: "NVIDIA Olympus",
	{0xc0, 0xac3}: "Ampere-1",
	{0xc0, 0xac4}: "Ampere-1A",
}

// armCore returns the name for the hexadecimal "CPU implementer" and "CPU
// part" of proc/cpuinfo; a core that the table does not have is named by its
// numbers.
func armCore(implementer, part string) string {
	i, err1 := strconv.ParseUint(implementer, 0, 32)
	p, err2 := strconv.ParseUint(part, 0, 32)
	if err1 != nil || err2 != nil {
		return ""
	}
	if name, ok := armCores[[2]uint64{i, p}]; ok {
		return name
	}
	return fmt.Sprintf("Arm implementer 0x%02x part 0x%03x", i, p)
}
