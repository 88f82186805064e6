/* The one function of Windows' bcryptprimitives.dll that Go's runtime asks for, for a Wine that has none. It is for tests alone. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
	while (size) {
		ULONG part = size < 1u << 30 ? (ULONG)size : 1u << 30;
		if (!RtlGenRandom(data, part)) return FALSE;
		data += part;
		size -= part;
	}
	return TRUE;
}
