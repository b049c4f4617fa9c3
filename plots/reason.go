package plots

import "regexp"

// particulars are the parts of a reason that differ from case to case: sizes, addresses, descriptors, devices, counts.
var particulars = regexp.MustCompile(`0x[0-9a-f]+|[0-9.]+ (B|KiB|MiB|GiB|TiB)\b|\bfd [0-9]+|[0-9]+ needed|\b(device|node) [0-9]+|\b(GPU|MIG)-[0-9a-f-]+|\b0 of [0-9]+ live`)

// ReasonKind is a reason without its particulars: cases with one kind of reason are told together, in the words of the first.
func ReasonKind(reason string) string { return particulars.ReplaceAllString(reason, "#") }
