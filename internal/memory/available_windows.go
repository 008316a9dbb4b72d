package memory

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length, load                uint32
	totalPhysical, freePhysical uint64
	totalPageFile, freePageFile uint64
	totalVirtual, freeVirtual   uint64
	freeExtendedVirtual         uint64
}

func installed() int64 {
	var status memoryStatus
	status.length = uint32(unsafe.Sizeof(status))
	if globalMemoryStatusEx.Find() != nil {
		return 0
	}
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 || status.totalPhysical > math.MaxInt64 {
		return 0
	}
	return int64(status.totalPhysical)
}
