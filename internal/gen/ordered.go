package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// object is a JSON object that keeps the order of its members: the order in
// the schema is the order in the generated Go.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) get(key string) any {
	if o == nil {
		return nil
	}
	return o.values[key]
}

func (o *object) object(key string) *object { v, _ := o.get(key).(*object); return v }
func (o *object) array(key string) []any    { v, _ := o.get(key).([]any); return v }
func (o *object) string(key string) string  { v, _ := o.get(key).(string); return v }

// strings returns the members of an array of strings.
func (o *object) strings(key string) []string {
	var out []string
	for _, v := range o.array(key) {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// parseOrdered decodes one JSON document into *object, []any, string, bool,
// json.Number and nil.
func parseOrdered(src []byte) (*object, error) {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	v, err := orderedValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("offset %d: more than one JSON document", d.InputOffset())
	}
	o, ok := v.(*object)
	if !ok {
		return nil, fmt.Errorf("not a JSON object")
	}
	return o, nil
}

func orderedValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := &object{values: map[string]any{}}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			key, ok := k.(string)
			if !ok {
				return nil, fmt.Errorf("offset %d: object key is not a string", d.InputOffset())
			}
			v, err := orderedValue(d)
			if err != nil {
				return nil, err
			}
			o.keys = append(o.keys, key)
			o.values[key] = v
		}
		_, err = d.Token()
		return o, err
	case json.Delim('['):
		a := []any{}
		for d.More() {
			v, err := orderedValue(d)
			if err != nil {
				return nil, err
			}
			a = append(a, v)
		}
		_, err = d.Token()
		return a, err
	}
	return t, nil
}
