package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// resolveSettings gathers a provider's settings: option, then the manifest's
// variable and its aliases in order, then the default. A blank value is absent.
// Every problem is in the one error, which shows names and never values.
func resolveSettings(m contract.Manifest, o *openOptions) (port.Settings, error) {
	out := port.Settings{}
	known := map[string]bool{}
	var problems []string
	for _, rule := range m.Settings {
		known[rule.Key] = true
		s, ok := resolveSetting(rule, o)
		if rule.Env == stateDirVariable && s.Source != "option" {
			var err error
			if s, err = stateDirSetting(o); err != nil {
				problems = append(problems, err.Error())
			}
			ok = err == nil
		}
		if !ok {
			continue
		}
		out[rule.Key] = s
		if want := malformed(rule, s.Value.Reveal()); want != "" {
			problems = append(problems, fmt.Sprintf("setting %q (from %s) must be %s", rule.Key, s.Source, want))
		}
	}
	for key := range o.settings {
		if !known[key] {
			problems = append(problems, fmt.Sprintf("setting %q (from option) is not a setting of this provider", key))
		}
	}
	slices.Sort(problems)
	if len(problems) > 0 {
		return nil, &Error{Code: port.CodeInvalidArgument, Op: "Open", Provider: m.ID,
			Outcome: port.OutcomeUnchanged, Reason: strings.Join(problems, "; ")}
	}
	return out, missingCredentials(m, out)
}

func resolveSetting(rule contract.SettingRule, o *openOptions) (port.Setting, bool) {
	if v, ok := o.settings[rule.Key]; ok && !blank(v.Reveal()) {
		return port.Setting{Value: v, Source: "option"}, true
	}
	for _, name := range append([]string{rule.Env}, rule.Aliases...) {
		if name == "" {
			continue
		}
		if v, ok := o.environ(name); ok && !blank(v) {
			return port.Setting{Value: port.NewSecret(strings.TrimSpace(v)), Source: name}, true
		}
	}
	if !rule.Secret && !blank(rule.Default) {
		return port.Setting{Value: port.NewSecret(rule.Default), Source: "default"}, true
	}
	return port.Setting{}, false
}

// stateDirVariable is the variable of the state directory. A provider that keeps
// state on this machine has it as a setting, and keeps it beside the ledger: both
// are resolved in the same way.
const stateDirVariable = "SBX_STATE_DIR"

func stateDirSetting(o *openOptions) (port.Setting, error) {
	dirs, err := o.dirs()
	return port.Setting{Value: port.NewSecret(dirs.Root), Source: "the state directory"}, err
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// malformed says what a value should have been, "" when it is fine.
func malformed(rule contract.SettingRule, v string) string {
	var err error
	switch rule.Type {
	case contract.SettingTypeInteger:
		if _, err = strconv.Atoi(v); err != nil {
			return "a whole number"
		}
	case contract.SettingTypeBoolean:
		if _, err = strconv.ParseBool(v); err != nil {
			return "true or false"
		}
	case contract.SettingTypeDuration:
		if _, err = time.ParseDuration(v); err != nil {
			return "a duration such as 90s"
		}
	case contract.SettingTypeEnum:
		if !slices.Contains(rule.Allowed, v) {
			return "one of " + strings.Join(rule.Allowed, ", ")
		}
	}
	return ""
}

// missingCredentials wants one complete credential set, and otherwise names the
// missing variables of every set.
func missingCredentials(m contract.Manifest, s port.Settings) error {
	if len(m.CredentialSets) == 0 {
		return nil
	}
	env := map[string]string{}
	for _, rule := range m.Settings {
		env[rule.Key] = strings.Join(append([]string{rule.Env}, rule.Aliases...), " or ")
	}
	var sets []string
	for _, set := range m.CredentialSets {
		var missing []string
		for _, key := range set {
			if s[key].Value.IsZero() {
				missing = append(missing, first(env[key], key))
			}
		}
		if len(missing) == 0 {
			return nil
		}
		sets = append(sets, strings.Join(missing, ", "))
	}
	return &Error{Code: port.CodeUnauthenticated, Op: "Open", Provider: m.ID, Outcome: port.OutcomeUnchanged,
		Reason: "credentials are missing; set " + strings.Join(sets, "; or set ")}
}

// newRedactor knows every secret setting and what the options add.
func newRedactor(m contract.Manifest, s port.Settings, o *openOptions) (*wire.Redactor, error) {
	var secrets []wire.NamedSecret
	for _, rule := range m.Settings {
		if rule.Secret {
			secrets = append(secrets, wire.NamedSecret{Name: rule.Key, Value: s.Secret(rule.Key)})
		}
	}
	for i, v := range o.secretVals {
		secrets = append(secrets, wire.NamedSecret{Name: "redacted value " + strconv.Itoa(i+1), Value: v})
	}
	return wire.NewRedactor(secrets...)
}
