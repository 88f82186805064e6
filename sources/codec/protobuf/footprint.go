package protobuf

import (
	"encoding/base64"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/urlmill/urlmill/sources/codec/schema"
)

// What package dynamicpb takes in bytes, see TestFootprint.
const (
	perMessage = 176
	perFields  = 304 // of a message that has any
	perField   = 64
	perElement = 48
	perAny     = 128 // for each byte of a google.protobuf.Any, whose message nobody has looked at
)

// footprint returns about how many bytes a record takes as messages, and no fewer than as JSON. Two bytes can be a message of 176.
// It stops counting when there are more than most.
func footprint(data []byte, m protoreflect.MessageDescriptor, most, depth int) int {
	n := perMessage
	if len(data) > 0 {
		n += perFields
	}
	for len(data) > 0 && n <= most && depth <= maxNesting {
		number, wire, size := protowire.ConsumeTag(data)
		if size < 0 {
			break
		}
		data = data[size:]
		if size = protowire.ConsumeFieldValue(number, wire, data); size < 0 {
			break
		}
		n += perField + fieldFootprint(data[:size], m.Fields().ByNumber(number), number, wire, most-n, depth)
		data = data[size:]
	}
	return n
}

// fieldFootprint returns the same for a value of field d, which is nil where the message has none of that number.
func fieldFootprint(value []byte, d protoreflect.FieldDescriptor, number protowire.Number, wire protowire.Type, most, depth int) int {
	if d == nil {
		return len(value)
	}
	n := len(d.Name())
	switch wire {
	case protowire.BytesType:
		value, _ = protowire.ConsumeBytes(value)
	case protowire.StartGroupType:
		value, _ = protowire.ConsumeGroup(number, value)
	case protowire.VarintType:
		return n + len(enumName(d, value))
	}
	switch {
	case d.Message() != nil:
		return n + footprint(value, d.Message(), most-n, depth+1)
	case d.ContainingMessage().FullName() == "google.protobuf.Any":
		return n + perAny*min(len(value), most/perAny+1) // in 32 bits
	case d.Kind() == protoreflect.StringKind:
		return n + schema.StringSize(value)
	case d.Kind() == protoreflect.BytesKind:
		return n + base64.StdEncoding.EncodedLen(len(value))
	case wireType(d) == protowire.VarintType: // packed
		for len(value) > 0 && n <= most {
			_, size := protowire.ConsumeVarint(value)
			if size < 0 {
				break
			}
			n += perElement + len(enumName(d, value))
			value = value[size:]
		}
		return n
	default: // packed numbers of four or eight bytes
		return n + perElement/4*len(value)
	}
}

// enumName returns the name of the number at the beginning of value, where d is an enum.
func enumName(d protoreflect.FieldDescriptor, value []byte) protoreflect.Name {
	if d.Enum() == nil {
		return ""
	}
	u, _ := protowire.ConsumeVarint(value)
	if v := d.Enum().Values().ByNumber(protoreflect.EnumNumber(u)); v != nil {
		return v.Name()
	}
	return ""
}
