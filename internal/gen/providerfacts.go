package gen

import "strings"

// factSheet collects the facts of a manifest in schema order, and apart from
// them those that the manifest calls unknown and those it does not mention.
type factSheet struct {
	capabilities []capability
	defs         *object
	sources      map[string]bool // ids of the provenance entries
	unknown      []string        // rows
	unsaid       []string        // one line per section
}

// titled is a property of the schema with its reference resolved.
type titled struct {
	key, title string
	fact       bool
	def        *object
}

// properties are the properties of a definition, in order.
func (s *factSheet) properties(def *object) []titled {
	var out []titled
	props := def.object("properties")
	if props == nil {
		return nil
	}
	for _, key := range props.keys {
		p := titled{key: key, def: props.object(key)}
		p.title = p.def.string("title")
		if name, ok := strings.CutPrefix(p.def.string("$ref"), "#/$defs/"); ok {
			p.def = s.defs.object(name)
			p.fact = strings.HasPrefix(name, "fact")
			if p.title == "" {
				p.title = p.def.string("title")
			}
		}
		out = append(out, p)
	}
	return out
}

// snapshotTitle is one of the five facts of a snapshot in words.
func (s *factSheet) snapshotTitle(key string) string {
	return strings.ToLower(s.defs.object("snapshotClaim").object("properties").object(key).string("title"))
}

// section is the table of the facts below some properties of the manifest. What
// is a list is not in it.
func (s *factSheet) section(title string, manifest node, props []titled) string {
	var rows, unsaid []string
	s.walk(title, "", manifest, props, &rows, &unsaid)
	if len(unsaid) > 0 {
		s.unsaid = append(s.unsaid, "- "+title+": "+strings.Join(unsaid, ", ")+"\n")
	}
	return table(rows, "fact", "value", "known from")
}

func (s *factSheet) walk(section, prefix string, n node, props []titled, rows, unsaid *[]string) {
	for _, p := range props {
		name := p.title
		if prefix != "" {
			name = prefix + ": " + strings.ToLower(name[:1]) + name[1:]
			if strings.ToUpper(p.title) == p.title { // an abbreviation
				name = prefix + ": " + p.title
			}
		}
		switch {
		case !p.fact:
			s.walk(section, name, n.node(p.key), s.properties(p.def), rows, unsaid)
		case n[p.key] == nil:
			*unsaid = append(*unsaid, name)
		default:
			*rows = append(*rows, row(name, s.fact(section+": "+name, n.node(p.key)), s.known(n.node(p.key))))
		}
	}
}

// fact is the value of a fact in words. One that is not known is noted.
func (s *factSheet) fact(name string, f node) string {
	if reason := f.text("unknown"); reason != "" {
		s.unknown = append(s.unknown, row(name, markdown(reason)))
		return "**unknown**: " + markdown(reason)
	}
	return inWords(f["value"])
}

// known says how something is known and from where; a dash where nobody said.
func (s *factSheet) known(n node) string {
	class, from := n.text("class"), n.text("from")
	if s.sources[from] {
		from = link(markdown(from), "#sources")
	} else {
		from = markdown(from)
	}
	switch {
	case class != "" && from != "":
		return class + ", " + from
	default:
		return dash(class + from)
	}
}
