//go:build unix

package reference

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
)

// contain makes the programs that commands of a sandbox under a policy find first:
// a stand-in for a network that holds to the policy. It is as strong as the
// checks need and no stronger; "" is no policy.
func (v *Vendor) contain(id string, policy *contract.EgressPolicy) (string, error) {
	if policy == nil || policy.Mode == contract.EgressModeAllowAll || !v.traits.Egress {
		return "", nil
	}
	var allowed []string
	for _, host := range policy.Hosts {
		allowed = append(allowed, "'"+host+"'")
	}
	for _, r := range policy.CIDRs {
		if one, ok := strings.CutSuffix(r, "/32"); ok {
			allowed = append(allowed, "'"+one+"'")
		}
	}
	if len(allowed) == 0 {
		allowed = []string{"''"}
	}
	path := os.Getenv("PATH")
	connect := fmt.Sprintf(`#!/bin/sh
case $3 in %s) ;; *) exit 1 ;; esac
PATH='%s'
if command -v nc > /dev/null; then exec nc "$@"; fi
if command -v busybox > /dev/null; then exec busybox nc "$@"; fi
exec bash -c 'exec 3<> "/dev/tcp/$0/$1" && cat <&3' "$3" "$4"
`, strings.Join(allowed, "|"), path)
	lookUp := "#!/bin/sh\nexit 2\n"
	if policy.Mode == contract.EgressModeAllowList { // the resolver answers for every name, only connections are held back
		lookUp = fmt.Sprintf("#!/bin/sh\nPATH='%s'\nexec getent \"$@\"\n", path)
	}
	dir := filepath.Join(v.dir, "net-"+id)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	for name, script := range map[string]string{"nc": connect, "getent": lookUp} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			return "", err
		}
	}
	return dir, nil
}
