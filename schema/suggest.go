package schema

import "strings"

// nearest returns the word most like got, or "" when none is close enough to
// be what was meant.
func nearest(got string, words []string) string {
	best, bestDistance := "", 1+max(1, len(got)/3)
	for _, word := range words {
		if d := distance(strings.ToLower(got), strings.ToLower(word)); d < bestDistance {
			best, bestDistance = word, d
		}
	}
	return best
}

// distance counts the edits between two words: insertions, deletions,
// replacements and swaps of neighbours.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(s)][len(t)]
}
