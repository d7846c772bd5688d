package secretscan

import "bytes"

// shape is the form of one vendor's credentials: a prefix, and at least so many
// bytes of a kind after it.
type shape struct {
	prefix string
	rest   int
	ok     func(b byte) bool
	name   string
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' }

func isAlnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

func isUpperAlnum(b byte) bool { return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' }

func isKeyByte(b byte) bool { return isAlnum(b) || b == '_' || b == '-' }

// shapes returns the forms whose prefix begins with this byte.
func shapes(first byte) []shape {
	switch first {
	case 'A':
		return []shape{{"AKIA", 16, isUpperAlnum, "an AWS access key"}, {"ASIA", 16, isUpperAlnum, "an AWS session key"},
			{"AIza", 30, isKeyByte, "a Google API key"}}
	case 'a':
		return []shape{{"ak-", 20, isAlnum, "a Modal token ID"}, {"as-", 20, isAlnum, "a Modal token secret"}}
	case 'b':
		return []shape{{"boat_", 16, isKeyByte, "a Boat key"}, {"box_", 16, isKeyByte, "a Box key"}}
	case 'd':
		return []shape{{"dtn_", 24, isAlnum, "a Daytona key"}, {"dckr_pat_", 20, isKeyByte, "a Docker Hub token"},
			{"dop_v1_", 40, isHex, "a DigitalOcean token"}}
	case 'e':
		return []shape{{"e2b_", 24, isHex, "an E2B key"}}
	case 'f':
		return []shape{{"fm2_", 24, isKeyByte, "a Fly token"}}
	case 'g':
		return []shape{{"ghp_", 30, isAlnum, "a GitHub token"}, {"gho_", 30, isAlnum, "a GitHub token"},
			{"ghs_", 30, isAlnum, "a GitHub token"}, {"ghu_", 30, isAlnum, "a GitHub token"},
			{"ghr_", 30, isAlnum, "a GitHub token"}, {"github_pat_", 30, isKeyByte, "a GitHub token"},
			{"glpat-", 20, isKeyByte, "a GitLab token"}, {"gsk_", 40, isAlnum, "a Groq key"}}
	case 'h':
		return []shape{{"hf_", 30, isAlnum, "a Hugging Face token"}}
	case 'n':
		return []shape{{"npm_", 30, isAlnum, "an npm token"}}
	case 'p':
		return []shape{{"pypi-AgE", 40, isKeyByte, "a PyPI token"}}
	case 'r':
		return []shape{{"rk_live_", 16, isAlnum, "a Stripe key"}, {"r8_", 30, isAlnum, "a Replicate token"}}
	case 's':
		return []shape{{"sk_live_", 16, isKeyByte, "a live secret key"}, {"sk_test_", 16, isKeyByte, "a secret key"},
			{"sk-ant-", 20, isKeyByte, "an Anthropic key"}, {"sk-proj-", 20, isKeyByte, "an OpenAI key"},
			{"sk-", 32, isAlnum, "a secret key"}, {"sbp_", 32, isHex, "a Supabase token"}}
	case 'v':
		return []shape{{"vcp_", 24, isAlnum, "a Vercel token"}, {"vca_", 24, isAlnum, "a Vercel token"},
			{"vck_", 24, isAlnum, "a Vercel key"}, {"vercel_", 20, isAlnum, "a Vercel token"}}
	case 'x':
		return []shape{{"xoxb-", 16, isKeyByte, "a Slack token"}, {"xoxp-", 16, isKeyByte, "a Slack token"},
			{"xoxa-", 16, isKeyByte, "a Slack token"}, {"xoxs-", 16, isKeyByte, "a Slack token"}, {"xapp-", 16, isKeyByte, "a Slack token"}}
	}
	return nil
}

// vendorShape returns whose credential a token begins with and how long it is, or "".
func vendorShape(token []byte) (name string, length int) {
	if isWebToken(token) {
		return "a JSON web token", len(token)
	}
	for _, s := range shapes(token[0]) {
		rest, ok := bytes.CutPrefix(token, []byte(s.prefix))
		if !ok {
			continue
		}
		n := 0
		for n < len(rest) && s.ok(rest[n]) {
			n++
		}
		if n >= s.rest && isVaried(rest[:n]) {
			return s.name, len(s.prefix) + n
		}
	}
	return "", 0
}

// isVaried tells a key from a word: something in it is a digit or an upper-case
// letter, as boat_stopped_by_idle_timer has none.
func isVaried(b []byte) bool {
	for _, c := range b {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}

// isWebToken reports three parts of base64, the first of which is a JSON object.
func isWebToken(token []byte) bool {
	parts := bytes.Split(token, []byte("."))
	return len(parts) == 3 && bytes.HasPrefix(parts[0], []byte("eyJ")) && len(parts[0]) >= 12 &&
		len(parts[1]) >= 12 && len(parts[2]) >= 8
}
