package urlcore

import (
	"errors"
	"strings"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// PathStyle says how an operating system writes the paths of files. It is the path's, not that of the system the program runs
// on: both styles work everywhere.
type PathStyle uint8

// The styles.
const (
	POSIX   PathStyle = iota // /a/b
	Windows                  // C:\a\b and \\server\share\a
)

var (
	// ErrNotAbsolute is returned for the path of a file that is not absolute: whose meaning depends on the working directory.
	// Windows' paths such as \a and C:a are not.
	ErrNotAbsolute = errors.New("urlcore: the path of a file is not absolute")
	// ErrFilePath is returned for a path that no file: URL stands for, such as \\.\COM1.
	ErrFilePath = errors.New("urlcore: there is no file: URL for the path")
	// ErrNoFilePath is returned for URLs that stand for no path of a style: that are no file: URLs, name a host where the style
	// has none, lack a drive letter where it has one, or have an escaped separator or NUL in a segment.
	ErrNoFilePath = errors.New("urlcore: the URL stands for no path of a file in this style")
)

// FromFilePath returns the file: URL of an absolute path. All characters but separators are text, which is encoded: "%41" in a
// path is no A. The segments "." and ".." are resolved as in every URL, without a look at symbolic links. A slash at the end
// stays, so that references resolve against the path as against a directory.
//
// Windows' paths may have slashes, and begin with \\?\ or \\?\UNC\. The server of \\server\share is the URL's host; its name is
// that of a URL, in lower case. localhost is refused, since no file: URL keeps it.
//
// The errors are [ErrNotAbsolute], [ErrFilePath], and an *[Error] for a server's name that is no host.
//
// Source: the behaviour of Node.js' pathToFileURL and rust-url's from_file_path
func FromFilePath(path string, style PathStyle) (*URL, error) {
	if strings.IndexByte(path, 0) >= 0 {
		return nil, ErrFilePath
	}
	host := ""
	if style == Windows {
		var err error
		if host, path, err = splitWindowsPath(path); err != nil {
			return nil, err
		}
	} else if !strings.HasPrefix(path, "/") {
		return nil, ErrNotAbsolute
	}
	set := encodedSegment.Without("/")
	return Parse("file://" + host + percent.Encode(path, &set))
}

// splitWindowsPath takes a path of Windows apart, into the server's name as a host and a path with slashes.
func splitWindowsPath(path string) (host, rest string, err error) {
	path = strings.ReplaceAll(path, `\`, "/")
	if verbatim, ok := strings.CutPrefix(path, "//?/"); ok {
		path = verbatim
		if len(path) >= 4 && strings.EqualFold(path[:4], "UNC/") {
			path = "//" + path[4:]
		}
	}
	if startsWithDriveLetter([]byte(path)) && path[1] == ':' && len(path) > 2 && path[2] == '/' {
		return "", "/" + path, nil
	}
	server, ok := strings.CutPrefix(path, "//")
	if !ok {
		return "", "", ErrNotAbsolute
	}
	server, share, _ := strings.Cut(server, "/")
	if server == "" || server == "." || server == "?" || share == "" || share[0] == '/' {
		return "", "", ErrFilePath
	}
	host, _, err = ParseHost(server, false)
	if err == nil && host == "localhost" {
		err = ErrFilePath
	}
	return host, "/" + share, err
}

// FilePath returns the path of the file that a file: URL stands for: decoded, and with backslashes in the style of Windows. A
// host becomes the server of \\server\share there, with its labels in Unicode, and is refused by POSIX. Query and fragment have
// no part in it. The path need not be UTF-8.
//
// The path holds no "." and ".." between its separators, but it is as trustworthy as the URL otherwise: on Windows it may name a
// device. The error is [ErrNoFilePath].
//
// Source: the behaviour of Node.js' fileURLToPath and rust-url's to_file_path
func (u *URL) FilePath(style PathStyle) (string, error) {
	separators := "/\x00"
	if style == Windows {
		separators = "/\\\x00"
	}
	if u.loc.scheme != schemeFile {
		return "", ErrNoFilePath
	}
	var b strings.Builder
	for segment := range u.Segments().All() {
		if strings.ContainsAny(segment, separators) {
			return "", ErrNoFilePath
		}
		b.WriteByte(separators[len(separators)-2])
		b.WriteString(segment)
	}
	path, host := b.String(), u.Hostname()
	switch {
	case style == POSIX && host == "":
		return path, nil
	case style == Windows && host != "":
		if unicode, ok := DomainToUnicode(host, false); ok {
			host = unicode
		}
		return `\\` + host + path, nil
	case style == Windows && isNormalizedDriveLetter(firstSegment(u.Bytes(Path))):
		if len(path) == len(`\C:`) {
			path += `\`
		}
		return path[1:], nil
	}
	return "", ErrNoFilePath
}
