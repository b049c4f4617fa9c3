// A library with NVML's symbols for four GPUs of one machine: 0 and 1 are joined
// by 4 NVLinks and each has 2 links to a switch, 2 has 6 links to a switch, 3 has
// no NVLink. Structures are declared as NVML's reference gives them, so that a C
// compiler decides where each field is.
//
//   -DBARE            a library that answers nothing but who the devices are
//   -DOLD             the names that some functions had before
//   -DINIT_RESULT=n   nvmlInit_v2 returns n
//   -DNO_FABRIC       GPUs connected to the switch cannot reach each other
#include <stdio.h>
#include <string.h>

typedef int nvmlReturn_t;
typedef struct { int index; } *nvmlDevice_t;
typedef struct {
	char busIdLegacy[16];
	unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
	char busId[32];
} nvmlPciInfo_t;
typedef struct { unsigned long long total, free, used; } nvmlMemory_t;
typedef struct { unsigned long long bar1Total, bar1Free, bar1Used; } nvmlBAR1Memory_t;
typedef struct {
	unsigned pid;
	unsigned long long usedGpuMemory;
	unsigned gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_t;
enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
_Static_assert(sizeof(nvmlPciInfo_t) == 68, "");
_Static_assert(sizeof(nvmlProcessInfo_t) == 24, "");

static struct { int index; } devices[4] = {{0}, {1}, {2}, {3}};
static int processes = 2;
void testProcesses(int n) { processes = n; }

#ifndef INIT_RESULT
#define INIT_RESULT 0
#endif
nvmlReturn_t nvmlInit_v2(void) { return INIT_RESULT; }
nvmlReturn_t nvmlShutdown(void) { return SUCCESS; }

static nvmlReturn_t find(const char *prefix, const char *name, nvmlDevice_t *d)
{
	int i;
	char end;
	char form[32];
	snprintf(form, sizeof form, "%s%%d%%c", prefix);
	if (sscanf(name, form, &i, &end) < 1 || i < 0 || i > 3)
		return NOT_FOUND;
	*d = (nvmlDevice_t)&devices[i];
	return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *name, nvmlDevice_t *d) { return find("0000:1", name, d); }
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *name, nvmlDevice_t *d) { return find("GPU-", name, d); }

#ifndef BARE
nvmlReturn_t nvmlSystemGetDriverVersion(char *s, unsigned n) { snprintf(s, n, "580.159.04"); return SUCCESS; }
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char *s, unsigned n) { snprintf(s, n, "NVIDIA Test %d", d->index); return SUCCESS; }
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char *s, unsigned n) { snprintf(s, n, "GPU-%d", d->index); return SUCCESS; }
static void pci(int index, nvmlPciInfo_t *p)
{
	memset(p, 0, sizeof *p);
	p->domain = 0;
	p->bus = 0x10u + (unsigned)index;
	snprintf(p->busId, sizeof p->busId, "%08X:%02X:%02X.0", p->domain, p->bus, p->device);
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t d, nvmlPciInfo_t *p) { pci(d->index, p); return SUCCESS; }
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t d, int type, unsigned *v) { (void)d; *v = type == 1 ? 1755 : type == 2 ? 3201 : 0; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t d, int type, unsigned *v) { (void)d; *v = type == 1 ? 1980 : type == 2 ? 3202 : 0; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, int sensor, unsigned *v) { (void)d; *v = sensor == 0 ? 41 : 99; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned *v) { (void)d; *v = 118250; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t d, unsigned *v) { (void)d; *v = 700000; return SUCCESS; }
#ifdef OLD
#define nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons
#define nvmlDeviceGetComputeRunningProcesses_v3 nvmlDeviceGetComputeRunningProcesses_v2
#endif
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t d, unsigned long long *v) { (void)d; *v = 0x8000000000000005ull; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t d, int *current, int *pending) { (void)d; *current = 1; *pending = 0; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t d, unsigned *current, unsigned *pending) { (void)d; *current = 0; *pending = 1; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t d, int *v) { (void)d; *v = 1; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t d, nvmlBAR1Memory_t *m) { (void)d; *m = (nvmlBAR1Memory_t){3ull << 32, 2ull << 32, 1ull << 32}; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t d, unsigned *v) { (void)d; *v = 1; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t d, unsigned *v) { (void)d; *v = 8; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t d, unsigned *v) { (void)d; *v = 5; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t d, unsigned *v) { (void)d; *v = 16; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t d, nvmlMemory_t *m) { (void)d; *m = (nvmlMemory_t){30ull << 32, 20ull << 32, 10ull << 32}; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t d, int *v) { (void)d; *v = 3; return SUCCESS; }
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t d, unsigned *n, nvmlProcessInfo_t *p)
{
	(void)d;
	unsigned room = *n;
	*n = (unsigned)processes;
	if (room < (unsigned)processes)
		return INSUFFICIENT_SIZE;
	for (int i = 0; i < processes; i++)
		p[i] = (nvmlProcessInfo_t){1000u + (unsigned)i, ~0ull, ~0u, ~0u};
	return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t d, unsigned words, unsigned long *set)
{
	(void)d;
	memset(set, 0, words * sizeof *set);
	set[0] = 5;
	set[1] = 1;
	set[words - 1] = 1ul << 63;
	return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t d, unsigned words, unsigned long *set, int scope)
{
	if (scope != 0)
		return INVALID_ARGUMENT;
	memset(set, 0, words * sizeof *set);
	set[0] = d->index == 3 ? 3 : 2; /* device 3 is near to two nodes */
	return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t a, nvmlDevice_t b, int *level)
{
	static const int levels[] = {0, 50, 40, 30, 20, 10};
	*level = levels[a->index + b->index];
	return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t a, nvmlDevice_t b, int caps, int *status)
{
	(void)a, (void)b;
	if (caps != 2)
		return INVALID_ARGUMENT;
#ifdef NO_FABRIC
	*status = 5;
#else
	*status = 0;
#endif
	return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t d, unsigned link, int *active)
{
	if (d->index == 3)
		return NOT_SUPPORTED;
	if (link >= 18)
		return INVALID_ARGUMENT;
	*active = link % 3 != 2; /* every third link is down */
	return SUCCESS;
}
/* Links 0, 1, 3, 4 of devices 0 and 1 are direct, 6 and 7 go to the switch, the others to elsewhere. */
nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t d, unsigned link, int *type)
{
	*type = d->index == 2 ? (link < 9 ? 2 : 0) : link < 6 ? 0 : link < 9 ? 2 : 1;
	return SUCCESS;
}
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t d, unsigned link, nvmlPciInfo_t *p)
{
	pci(d->index < 2 && link < 6 ? 1 - d->index : 99, p);
	return SUCCESS;
}
#endif
