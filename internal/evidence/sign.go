package evidence

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// payloadType is that of an in-toto statement in a DSSE envelope.
const payloadType = "application/vnd.in-toto+json"

var (
	// ErrEnvelope says that a file is not an envelope as Sign writes it.
	ErrEnvelope = errors.New("not an envelope with one signature as the tool writes it")
	// ErrOtherStatement says that an envelope is about another statement.
	ErrOtherStatement = errors.New("the envelope holds another statement")
	// ErrUntrusted says that the key of a signature is not listed.
	ErrUntrusted = errors.New("the key is not listed")
	// ErrSignature says that a listed key did not make the signature.
	ErrSignature = errors.New("the signature is wrong")
	errNoKey     = errors.New("not an ed25519 key")
)

// KeyID is the ID of a public key. It follows from the key, so nobody can list a
// key under the ID of another.
func KeyID(public []byte) string {
	sum := sha256.Sum256(public)
	return "ed25519-" + hex.EncodeToString(sum[:8])
}

// Sign returns the envelope of a statement: the statement's exact bytes, and a
// signature over them.
func Sign(ctx context.Context, statement []byte, key PrivateKey) ([]byte, error) {
	if len(key.seed) == 0 {
		return nil, fmt.Errorf("evidence: sign: %w", errNoKey)
	}
	signer, err := dsse.NewEnvelopeSigner(edSigner{key})
	if err != nil {
		return nil, fmt.Errorf("evidence: sign: %w", err)
	}
	e, err := signer.SignPayload(ctx, payloadType, statement)
	if err != nil {
		return nil, fmt.Errorf("evidence: sign: %w", err)
	}
	return encodeEnvelope(e)
}

func encodeEnvelope(e *dsse.Envelope) ([]byte, error) {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("evidence: envelope: %w", err)
	}
	return append(b, '\n'), nil
}

// VerifyEnvelope checks that envelope is a signature of a listed key over exactly
// these bytes and returns the key. Because nothing covers the envelope itself, it
// has to be byte for byte what Sign writes. Whether the key counted at the time
// of the run is Key.Refuses. The error is one of the four of this package.
func VerifyEnvelope(ctx context.Context, envelope, statement []byte, keys *Keys) (Key, error) {
	var e dsse.Envelope
	if err := json.Unmarshal(envelope, &e); err != nil {
		return Key{}, errors.Join(ErrEnvelope, err)
	}
	again, err := encodeEnvelope(&e)
	if err != nil || !bytes.Equal(again, envelope) || e.PayloadType != payloadType || len(e.Signatures) != 1 {
		return Key{}, ErrEnvelope
	}
	payload, err := e.DecodeB64Payload()
	if err != nil {
		return Key{}, errors.Join(ErrEnvelope, err)
	}
	if !bytes.Equal(payload, statement) {
		return Key{}, ErrOtherStatement
	}
	key, ok := keys.Find(e.Signatures[0].KeyID)
	if !ok {
		return Key{}, ErrUntrusted
	}
	public, err := hex.DecodeString(key.Public)
	if err != nil || len(public) != ed25519.PublicKeySize || KeyID(public) != key.ID {
		return Key{}, ErrUntrusted
	}
	verifier, err := dsse.NewEnvelopeVerifier(edVerifier{public})
	if err != nil {
		return Key{}, errors.Join(ErrSignature, err)
	}
	if _, err := verifier.Verify(ctx, &e); err != nil {
		return Key{}, errors.Join(ErrSignature, err)
	}
	if !canonicalEnvelope(&e, payload) {
		return Key{}, ErrEnvelope
	}
	return key, nil
}

// edSigner and edVerifier are ed25519 as package dsse wants it.
type edSigner struct{ key PrivateKey }

func (s edSigner) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(s.key.seed, data), nil
}

func (s edSigner) KeyID() (string, error) { return s.key.ID(), nil }

type edVerifier struct{ public ed25519.PublicKey }

func (v edVerifier) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(v.public, data, sig) {
		return ErrSignature
	}
	return nil
}

func (v edVerifier) KeyID() (string, error) { return KeyID(v.public), nil }

func (v edVerifier) Public() crypto.PublicKey { return v.public }
