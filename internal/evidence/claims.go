package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/agentworkforce/sbx/schema"
)

var errManifest = errors.New("the manifest is no object")

// ClaimsDigest is the digest of what a manifest claims: SHA-256, in hex, of the
// RFC 8785 form of its value without the properties that the schema marks
// x-sbx: {claim: false}. The value is as yamldoc or encoding/json decodes it and
// is not changed.
func ClaimsDigest(manifest any) (string, error) {
	src, err := schema.Files().ReadFile(schema.ProviderFile)
	if err != nil {
		return "", err
	}
	return claimsDigest(manifest, src)
}

func claimsDigest(manifest any, src []byte) (string, error) {
	var root struct {
		Properties map[string]struct {
			X struct {
				Claim *bool `json:"claim"`
			} `json:"x-sbx"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(src, &root); err != nil {
		return "", fmt.Errorf("evidence: %s: %w", schema.ProviderFile, err)
	}
	object, ok := manifest.(map[string]any)
	if !ok {
		return "", fmt.Errorf("evidence: claims: %w", errManifest)
	}
	claims := maps.Clone(object)
	for key, p := range root.Properties {
		if p.X.Claim != nil && !*p.X.Claim {
			delete(claims, key)
		}
	}
	b, err := Canonical(claims)
	if err != nil {
		return "", fmt.Errorf("evidence: claims: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
