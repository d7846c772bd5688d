package diag

import "strings"

// longestWord bounds the words Suggest compares; nobody mistypes a longer one
// into another by accident, and the cost is quadratic.
const longestWord = 64

// Suggest returns the candidate nearest to word, or "" when none is near. Near
// means equal but for case, or within one edit for words up to five letters
// and one edit more for every three letters beyond, an edit being an
// insertion, a deletion, a substitution or a swap of neighbours. The first of
// equally near candidates wins, so callers pass them in a fixed order. A
// candidate equal to word is not a suggestion and is passed over.
func Suggest(word string, candidates []string) string {
	w := []rune(word)
	if len(w) == 0 || len(w) > longestWord {
		return ""
	}
	best, bestCost := "", max(1, len(w)/3)+1
	for _, c := range candidates {
		if c == word || len(c) > 4*longestWord {
			continue
		}
		if strings.EqualFold(c, word) {
			return c
		}
		r := []rune(c)
		if len(r) > longestWord || len(r)-len(w) >= bestCost || len(w)-len(r) >= bestCost {
			continue
		}
		// A distance as long as the candidate shares nothing with it.
		if d := distance(w, r); d < bestCost && d < len(r) {
			best, bestCost = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance: Levenshtein with swaps of
// neighbours, where no stretch is edited twice.
func distance(a, b []rune) int {
	before := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
