package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"debug/elf"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// missing skips the test for want of a tool, or fails it where the environment variable asks for that tool.
func missing(t *testing.T, variable, what string) {
	t.Helper()
	if os.Getenv(variable) != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// platforms are those of Linux that a release is for, with the machine of ELF and what Python calls it.
var platforms = []struct {
	arch, python string
	machine      elf.Machine
}{
	{"amd64", "x86_64", elf.EM_X86_64},
	{"arm64", "aarch64", elf.EM_AARCH64},
}

// TestRelease builds the files of a release, and runs the programs of the folder test with its libraries: that of the other
// machine under emulation.
func TestRelease(t *testing.T) {
	python := cmp.Or(os.Getenv("URLMILL_ZIG_PYTHON"), "python3")
	if out, err := exec.Command(python, "-c", "import ziglang, build, hatchling").CombinedOutput(); err != nil {
		missing(t, "URLMILL_REQUIRE_ZIG", fmt.Sprintf("URLMILL_ZIG_PYTHON, or python3, has to have zig: pip install -r requirements.txt: %s", bytes.TrimSpace(out)))
	}
	dir := t.TempDir()
	cmd := exec.Command("bash", "release.sh", dir, "0.0.1-test")
	cmd.Env = append(os.Environ(), "PYTHON="+python)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range platforms {
		t.Run(p.arch, func(t *testing.T) {
			built := filepath.Join(dir, "linux_"+p.arch)
			library, err := os.ReadFile(filepath.Join(built, "liburlmill.so"))
			if err != nil {
				t.Fatal(err)
			}
			checkLibrary(t, library, p.machine)
			if !bytes.Contains(library, []byte("0.0.1-test")) {
				t.Error("the library does not know its version")
			}
			listed := strings.Fields(run(t, "tar", "-tzf", filepath.Join(dir, "liburlmill_0.0.1-test_linux_"+p.arch+".tar.gz")))
			if strings.Join(listed, " ") != "LICENSE THIRD_PARTY_LICENSES.txt liburlmill.so urlmill.h" {
				t.Errorf("the archive has %q", listed)
			}
			wheel := checkWheel(t, dir, fmt.Sprintf("manylinux_2_%d_%s", newest, p.python), "liburlmill.so", library)
			if !bytes.Contains(wheel, []byte("\ngithub.com/apache/arrow/go/v15 v")) {
				t.Errorf("the licences of what the library is made of are\n%s", wheel)
			}
			runsBorder(t, python, built, p.arch, p.python)
		})
	}
	t.Run("windows", func(t *testing.T) {
		library, err := os.ReadFile(filepath.Join(dir, "windows_amd64", "urlmill.dll"))
		if err != nil {
			t.Fatal(err)
		}
		checkDLL(t, library)
		licences := checkWheel(t, dir, "win_amd64", "urlmill.dll", library)
		for _, part := range []string{"\ngithub.com/apache/arrow/go/v15 v", "\nMinGW-w64", "Zope Public License"} {
			if !bytes.Contains(licences, []byte(part)) {
				t.Errorf("the licences of what the library is made of have no %q:\n%s", part, licences)
			}
		}
	})
}

// declared returns the functions of urlmill.h, sorted.
func declared(t *testing.T) []string {
	t.Helper()
	header, err := os.ReadFile("urlmill.h")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\w.*\b(urlmill_\w+)\(`).FindAllSubmatch(header, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	if len(names) < 5 {
		t.Fatalf("urlmill.h declares %q", names)
	}
	return names
}

// checkDLL checks what a library for Windows exports, and that it needs nothing that Windows 10 has not.
func checkDLL(t *testing.T, library []byte) {
	t.Helper()
	f, err := pe.NewFile(bytes.NewReader(library))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != pe.IMAGE_FILE_MACHINE_AMD64 {
		t.Errorf("the library is for machine %#x", f.Machine)
	}
	symbols, err := f.ImportedSymbols()
	if err != nil || len(symbols) < 10 {
		t.Errorf("%d symbols are imported, %v", len(symbols), err)
	}
	for _, s := range symbols {
		_, from, _ := strings.Cut(s, ":")
		if from != "KERNEL32.dll" && !strings.HasPrefix(from, "api-ms-win-crt-") {
			t.Errorf("the library needs %s", s)
		}
	}
	if got, want := exportsOfDLL(t, f), declared(t); !slices.Equal(got, want) {
		t.Errorf("exported are %q, and declared %q", got, want)
	}
}

// exportsOfDLL returns the names in the export directory, which are sorted.
func exportsOfDLL(t *testing.T, f *pe.File) []string {
	t.Helper()
	at := func(address uint32) []byte { // what lies at a relative virtual address
		for _, s := range f.Sections {
			if address >= s.VirtualAddress && address-s.VirtualAddress < s.Size {
				data, err := s.Data()
				if err != nil {
					t.Fatal(err)
				}
				return data[address-s.VirtualAddress:]
			}
		}
		t.Fatalf("nothing lies at %#x", address)
		return nil
	}
	header, ok := f.OptionalHeader.(*pe.OptionalHeader64)
	if !ok {
		t.Fatal("the library is not one of 64 bits")
	}
	directory := at(header.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXPORT].VirtualAddress)
	const numberOfNames, addressOfNames = 24, 32
	pointers := at(binary.LittleEndian.Uint32(directory[addressOfNames:]))
	var names []string
	for i := range binary.LittleEndian.Uint32(directory[numberOfNames:]) {
		name, _, _ := bytes.Cut(at(binary.LittleEndian.Uint32(pointers[4*i:])), []byte{0})
		names = append(names, string(name))
	}
	return names
}

// newest is the newest version of glibc that the libraries may ask for: that of manylinux_2_17.
const newest = 17

// checkLibrary checks what a library exports, and that it needs nothing but glibc, and an old one.
func checkLibrary(t *testing.T, library []byte, machine elf.Machine) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != machine {
		t.Errorf("the library is for %v", f.Machine)
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		t.Error(err)
	}
	for _, name := range needed {
		if name != "libc.so.6" && name != "libpthread.so.0" {
			t.Errorf("the library needs %s", name)
		}
	}
	imported, err := f.ImportedSymbols()
	if err != nil || len(imported) < 10 {
		t.Errorf("%d symbols are imported, %v", len(imported), err)
	}
	for _, s := range imported {
		var major, minor int
		if s.Version == "" {
			continue // weak, or of the linker
		}
		if _, err := fmt.Sscanf(s.Version, "GLIBC_%d.%d", &major, &minor); err != nil || major != 2 || minor > newest {
			t.Errorf("%s needs %s", s.Name, s.Version)
		}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Error(err)
	}
	var names []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	if want := declared(t); !slices.Equal(names, want) {
		t.Errorf("exported are %q, and declared %q", names, want)
	}
}

// checkWheel checks that the wheel for a platform, as Python calls it, has the library as the file name, and says so. It returns the
// licences of what the library is made of.
func checkWheel(t *testing.T, dir, platform, name string, library []byte) []byte {
	t.Helper()
	tag := "py3-none-" + platform
	found, err := filepath.Glob(filepath.Join(dir, "urlmill-*-"+tag+".whl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("wheels for %s: %q, %v", tag, found, err)
	}
	wheel, err := zip.OpenReader(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = wheel.Close() }()
	content := func(pattern string) []byte {
		for _, f := range wheel.File {
			if !regexp.MustCompile("^" + pattern + "$").MatchString(f.Name) {
				continue
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		t.Fatalf("%s has no %s", found[0], pattern)
		return nil
	}
	if !bytes.Equal(content("urlmill/"+regexp.QuoteMeta(name)), library) {
		t.Error("the wheel has another library")
	}
	if text := content(`urlmill-.*\.dist-info/WHEEL`); !bytes.Contains(text, []byte("Tag: "+tag+"\n")) {
		t.Errorf("the wheel says\n%s", text)
	}
	return content("urlmill/THIRD_PARTY_LICENSES.txt")
}

// emulatedLibc is where Debian has the C library of arm64 for other machines.
const emulatedLibc = "/usr/aarch64-linux-gnu"

// runsBorder runs test/border.c against the library in dir.
func runsBorder(t *testing.T, python, dir, arch, machine string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the programs of this test are for Linux")
	}
	// The program counts what malloc gave out by mallinfo2, which came with glibc 2.33. The library is none the newer for it.
	program := filepath.Join(t.TempDir(), "border")
	run(t, python, "-m", "ziglang", "cc", "-target", machine+"-linux-gnu.2.33", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program,
		filepath.Join("test", "border.c"), "-L"+dir, "-lurlmill", "-lpthread", "-Wl,-rpath,"+dir)
	if arch == runtime.GOARCH {
		t.Log(run(t, program, "1000"))
		return
	}
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if _, no := os.Stat(filepath.Join(emulatedLibc, "lib", "libc.so.6")); arch != "arm64" || err != nil || no != nil {
		missing(t, "URLMILL_REQUIRE_QEMU", "there is nothing to run the library of "+arch+" with: apt-get install qemu-user-static libc6-arm64-cross")
	}
	// Signals between threads are the weak point of emulated processes, and preemption is all that they are used for here.
	cmd := exec.Command(qemu, "-L", emulatedLibc, program, "500")
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
