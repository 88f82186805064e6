package address

import (
	"strconv"
	"strings"
)

// read returns what a record says, in the words of MaxMind and DB-IP (country.iso_code, subdivisions, autonomous_system_number), and in
// those of files that are flat, such as IPinfo's (country_code, region, asn: AS64496).
func read(record any) *Place {
	p := &Place{
		Country: text(record, "country", "iso_code"),
		Region:  text(first(at(record, "subdivisions")), "iso_code"),
		City:    text(record, "city", "names", "en"),
		Org:     text(record, "autonomous_system_organization"),
	}
	p.ASN, _ = strconv.ParseInt(text(record, "autonomous_system_number"), 10, 64)
	lat, latOK := number(record, "location", "latitude")
	lon, lonOK := number(record, "location", "longitude")
	for _, names := range [][2]string{{"latitude", "longitude"}, {"lat", "lng"}} {
		if !latOK || !lonOK {
			lat, latOK = number(record, names[0])
			lon, lonOK = number(record, names[1])
		}
	}
	if latOK && lonOK {
		p.Lat, p.Lon, p.HasPoint = lat, lon, true
	}
	or(&p.Country, text(record, "country_code"))
	if code := text(record, "country"); len(code) == 2 {
		or(&p.Country, code)
	}
	or(&p.Region, text(first(at(record, "subdivisions")), "names", "en"))
	or(&p.Region, text(record, "region"))
	or(&p.City, text(record, "city"))
	or(&p.Org, text(record, "as_name"))
	if p.ASN == 0 {
		p.ASN, _ = strconv.ParseInt(strings.TrimPrefix(text(record, "asn"), "AS"), 10, 64)
	}
	for _, name := range []*string{&p.Country, &p.Region, &p.City, &p.Org} {
		*name = strings.ToValidUTF8((*name)[:min(len(*name), maxName)], "")
	}
	return p
}

func or(to *string, text string) {
	if *to == "" {
		*to = text
	}
}

// at returns what stands at a path of keys, nil if nothing does.
func at(value any, path ...string) any {
	for _, key := range path {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}

func first(value any) any {
	if list, _ := value.([]any); len(list) > 0 {
		return list[0]
	}
	return nil
}

// text returns the text or the whole number at a path.
func text(value any, path ...string) string {
	switch v := at(value, path...).(type) {
	case string:
		return v
	case uint64:
		return strconv.FormatUint(v, 10)
	case uint32:
		return strconv.FormatUint(uint64(v), 10)
	case uint16:
		return strconv.FormatUint(uint64(v), 10)
	case int32:
		return strconv.FormatInt(int64(v), 10)
	}
	return ""
}

func number(value any, path ...string) (float64, bool) {
	switch v := at(value, path...).(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}
