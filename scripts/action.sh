#!/usr/bin/env bash
# The one step of action.yml: generate --check, validate with annotations, the
# checklists as the job's summary. Runs anywhere; only the annotations and the
# summary are GitHub's.
set -uo pipefail

package=github.com/agentworkforce/sbx/cmd/sbxgen
bin=$(mktemp -d) || exit 3
trap 'rm -rf "$bin"' EXIT
sbxgen=$bin/sbxgen
if [ -n "${SBXGEN_VERSION:-}" ]; then
	GOBIN=$bin go install "$package@$SBXGEN_VERSION" || exit 3
else
	go build -o "$sbxgen" "$package" || exit 3
fi
as_of=${SBXGEN_AS_OF:-$(git show -s --format=%cI HEAD)}

status=0
echo "::group::generated files"
"$sbxgen" generate --check --diff || status=1
echo "::endgroup::"
"$sbxgen" validate ${as_of:+--as-of "$as_of"} --format github || status=1

if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	git ls-files '*provider.yaml' | grep -vE '(^|/)(\.sbxgen|testdata)/' | while read -r manifest; do
		id=$(sed -n 's/^id: *//p' "$manifest" | head -n 1)
		[ -n "$id" ] || continue
		if text=$("$sbxgen" checklist "$id" 2>/dev/null); then # what is wrong has been said above
			printf '%s\n\n' "$text"
		else
			printf '# %s\n\nThere is no checklist until what the log names is put right.\n\n' "$id"
		fi >>"$GITHUB_STEP_SUMMARY"
	done
fi
exit "$status"
