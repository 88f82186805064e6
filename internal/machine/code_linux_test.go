package machine

import "testing"

const selfMaps = `00400000-00402000 r--p 00000000 fe:00 9995141                            /opt/the mill
00402000-00602000 r-xp 00002000 fe:00 9995141                            /opt/the mill
00602000-00603000 rw-p 00202000 fe:00 9995141                            /opt/the mill
3389cc000000-3389cdc00000 ---p 00000000 00:00 0
7f3be4000000-7f3be4021000 r-xp 00000000 fe:00 17                         /usr/lib/libc.so.6
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`

func TestMapped(t *testing.T) {
	if got := mapped(selfMaps, "/opt/the mill"); got != 0x202000 {
		t.Errorf("%#x of the file are mapped", got)
	}
	if got := mapped(selfMaps, "/opt/a"); got != 0 {
		t.Errorf("%#x of a file that is not mapped", got)
	}
	if got := CodeSize(); got < 1<<20 || got == unknownCode || got > 512<<20 {
		t.Errorf("this test has %d bytes of code", got)
	}
}
