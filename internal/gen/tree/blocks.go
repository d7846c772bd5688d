package tree

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// A marker stands alone on its line, indented or not, in one of three comment
// styles. Anything else that mentions sbxgen is ordinary text.
var markerLine = regexp.MustCompile(
	`^[ \t]*(?:<!-- sbxgen:(begin|end) ([A-Za-z0-9][A-Za-z0-9._-]*) -->|(?:#|//) sbxgen:(begin|end) ([A-Za-z0-9][A-Za-z0-9._-]*))[ \t]*$`)

// lineEnds takes stray carriage returns along, so that normalising twice is
// normalising once.
var lineEnds = regexp.MustCompile(`\r+\n`)

var blockName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// BlockError says that the markers of a file do not pair up, so that nobody
// can tell which text is the generator's.
type BlockError struct {
	Line   int // 1-based
	Reason string
}

// Error names line and reason.
func (e *BlockError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// block is one marked range of a file: content[start:end] lies between the
// line of the begin marker and the line of the end marker.
type block struct {
	name       string
	start, end int
	crlf       bool // the begin marker's line ends in \r\n, and so will the text's
}

// parseBlocks finds the marker blocks of a file, in order.
func parseBlocks(content string) ([]block, error) {
	if !strings.Contains(content, "sbxgen:") {
		return nil, nil
	}
	var blocks []block
	var open *block
	seen := map[string]bool{}
	offset, number, openLine := 0, 0, 0
	for line := range strings.Lines(content) {
		number++
		start := offset
		offset += len(line)
		text := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		m := markerLine.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		verb, name := m[1]+m[3], m[2]+m[4]
		switch {
		case verb == "begin" && open != nil:
			return nil, &BlockError{number, fmt.Sprintf("block %s begins inside block %s", name, open.name)}
		case verb == "begin" && seen[name]:
			return nil, &BlockError{number, fmt.Sprintf("a second block %s", name)}
		case verb == "begin":
			seen[name] = true
			openLine = number
			open = &block{name: name, start: offset, crlf: strings.HasSuffix(line, "\r\n")}
		case open == nil || open.name != name:
			return nil, &BlockError{number, fmt.Sprintf("block %s ends here but does not begin before", name)}
		default:
			open.end = start
			blocks = append(blocks, *open)
			open = nil
		}
	}
	if open != nil {
		return nil, &BlockError{openLine, fmt.Sprintf("block %s does not end", open.name)}
	}
	return blocks, nil
}

// text returns a block's text with \n line ends.
func (b block) text(content string) string {
	return lineEnds.ReplaceAllString(content[b.start:b.end], "\n")
}

// blockText is the normal form of a planned text: \n line ends, the last one
// included.
func blockText(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return lineEnds.ReplaceAllString(text, "\n")
}

// checkBlock refuses names and texts that would not be read back as written.
func checkBlock(name, text string) error {
	if !blockName.MatchString(name) {
		return errors.New("not a plain name")
	}
	for line := range strings.Lines(blockText(text)) {
		if markerLine.MatchString(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")) {
			return errors.New("its text contains a marker")
		}
	}
	return nil
}

// replaceBlock puts text between the block's markers; every other byte stays.
func replaceBlock(content string, b block, text string) string {
	text = blockText(text)
	if b.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return content[:b.start] + text + content[b.end:]
}

// appendBlock adds a whole block, markers included, to the end of a file.
func appendBlock(p, content, name, text string) string {
	begin, end := "# sbxgen:begin "+name, "# sbxgen:end "+name
	switch path.Ext(p) {
	case ".md", ".html", ".svg", ".xml":
		begin, end = "<!-- sbxgen:begin "+name+" -->", "<!-- sbxgen:end "+name+" -->"
	case ".go", ".js", ".mjs", ".ts", ".rs", ".c", ".h", ".java":
		begin, end = "// sbxgen:begin "+name, "// sbxgen:end "+name
	}
	return appendText(content, begin+"\n"+blockText(text)+end+"\n")
}

// appendText adds text after one blank line and leaves what precedes it alone.
func appendText(content, text string) string {
	eol := "\n"
	if i := strings.Index(content, "\n"); i > 0 && content[i-1] == '\r' {
		eol = "\r\n"
	}
	text = strings.ReplaceAll(blockText(text), "\n", eol)
	switch {
	case content == "" || strings.HasSuffix(content, eol+eol):
		return content + text
	case strings.HasSuffix(content, "\n"):
		return content + eol + text
	}
	return content + eol + eol + text
}
