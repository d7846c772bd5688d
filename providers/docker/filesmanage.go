package docker

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Stat describes one path and does not follow it when it is a symlink. Times
// have whole seconds.
func (a *Adapter) Stat(ctx context.Context, id string, path string) (contract.FileInfo, error) {
	const op = "Stat"
	path, err := a.cleanPath(op, id, path)
	if err != nil {
		return contract.FileInfo{}, err
	}
	out, err := a.fileScript(ctx, op, id, path, statScript, path)
	if err != nil {
		return contract.FileInfo{}, err
	}
	line, target, _ := strings.Cut(string(out), "\n")
	info, ok := fileInfo(strings.Fields(line))
	if !ok {
		return contract.FileInfo{}, a.badAnswer(op, id)
	}
	info.Path = path
	if info.Type == contract.FileTypeSymlink {
		info.Target = strings.TrimSuffix(target, "\n")
	}
	return info, nil
}

// ReadDir lists a directory in name order, the hidden entries too. A symlink
// to a directory is followed, symlinks in it are not.
func (a *Adapter) ReadDir(ctx context.Context, id string, path string) ([]contract.FileInfo, error) {
	const op = "ReadDir"
	path, err := a.cleanPath(op, id, path)
	if err != nil {
		return nil, err
	}
	mark, err := wire.NewMarker()
	if err != nil {
		return nil, a.errorf(op, id, port.CodeProvider, port.OutcomeUnchanged, "no randomness for a mark")
	}
	out, err := a.fileScript(ctx, op, id, path, listScript, path, mark)
	if err != nil {
		return nil, err
	}
	infos, ok := parseListing(out, mark, path)
	if !ok {
		return nil, a.badAnswer(op, id)
	}
	return infos, nil
}

// parseListing reads the records of listScript. Names may hold any byte but
// NUL and '/'; the mark cannot be in one by chance.
func parseListing(out []byte, mark, dir string) ([]contract.FileInfo, bool) {
	infos := []contract.FileInfo{}
	if len(out) == 0 {
		return infos, true
	}
	if !bytes.HasSuffix(out, []byte("\n")) {
		return nil, false
	}
	at := map[string]int{}
	link := ""
	for i, record := range strings.Split("\n"+string(out[:len(out)-1]), "\n"+mark+" ") {
		kind, rest, _ := strings.Cut(record, " ")
		switch {
		case i == 0:
			if record != "" {
				return nil, false
			}
		case kind == "E":
			f := strings.SplitN(rest, " ", 4)
			info, ok := fileInfo(f[:min(3, len(f))])
			if !ok || len(f) != 4 {
				return nil, false
			}
			name := strings.TrimPrefix(f[3], "./")
			info.Path = strings.TrimSuffix(dir, "/") + "/" + name
			at[name] = len(infos)
			infos = append(infos, info)
		case kind == "N":
			link = strings.TrimPrefix(rest, "./")
		case kind == "T":
			if n, ok := at[link]; ok {
				infos[n].Target = rest
			}
		default:
			return nil, false
		}
	}
	slices.SortFunc(infos, func(x, y contract.FileInfo) int { return cmp.Compare(x.Path, y.Path) })
	return infos, true
}

// fileInfo reads mode in hexadecimal, size and time.
func fileInfo(fields []string) (contract.FileInfo, bool) {
	if len(fields) != 3 {
		return contract.FileInfo{}, false
	}
	mode, err1 := strconv.ParseInt(fields[0], 16, 64)
	size, err2 := strconv.ParseInt(fields[1], 10, 64)
	secs, err3 := strconv.ParseInt(fields[2], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return contract.FileInfo{}, false
	}
	perm, at := mode&0o7777, time.Unix(secs, 0).UTC()
	return contract.FileInfo{Type: fileType(mode), Size: &size, Mode: &perm, ModifiedAt: &at}, true
}

func fileType(mode int64) contract.FileType {
	switch mode & 0o170000 {
	case 0o100000:
		return contract.FileTypeFile
	case 0o040000:
		return contract.FileTypeDirectory
	case 0o120000:
		return contract.FileTypeSymlink
	}
	return contract.FileTypeOther
}

// Mkdir makes a directory with exactly these permission bits, and its parents
// with the user's umask. A directory that is there is left as it is.
func (a *Adapter) Mkdir(ctx context.Context, id string, path string, mode int) error {
	path, err := a.cleanPath("Mkdir", id, path)
	if err != nil {
		return err
	}
	if mode < 0 || mode > 0o7777 {
		return a.refuse("Mkdir", id, "the mode %#o has bits beyond 07777", mode)
	}
	_, err = a.fileScript(ctx, "Mkdir", id, path, mkdirScript, path, strconv.FormatInt(int64(mode), 8))
	return err
}

// Remove deletes a path, a symlink itself and never what it points to.
func (a *Adapter) Remove(ctx context.Context, id string, path string, recursive bool) error {
	path, err := a.cleanPath("Remove", id, path)
	if err != nil {
		return err
	}
	if path == "/" {
		return a.refuse("Remove", id, "the root directory cannot be removed")
	}
	how := ""
	if recursive {
		how = "r"
	}
	_, err = a.fileScript(ctx, "Remove", id, path, removeScript, path, how)
	return err
}

// Rename moves a path, replacing a file or symlink at the target. A directory
// at the target is refused. Within one file system it is one step.
func (a *Adapter) Rename(ctx context.Context, id string, from string, to string) error {
	from, err := a.cleanPath("Rename", id, from)
	if err != nil {
		return err
	}
	to, err = a.cleanPath("Rename", id, to)
	if err != nil {
		return err
	}
	if from == "/" || to == "/" {
		return a.refuse("Rename", id, "the root directory cannot be moved or replaced")
	}
	_, err = a.fileScript(ctx, "Rename", id, from, renameScript, from, to)
	return err
}

func (a *Adapter) badAnswer(op, id string) error {
	return a.errorf(op, id, port.CodeProvider, port.OutcomeUnchanged, "the sandbox's stat printed something else than asked for")
}
