// A gate in a stream: work queued behind it starts together, when the host says.
#include "device.h"

// Waits, in one thread, until *flag is not 0. After limit_ns nanoseconds it
// gives up and sets *expired to 1, so that a host that died or forgot does not
// block the device. flag and expired lie in host memory that the device can
// reach; the host sets both to 0 before.
extern "C" __global__ void __launch_bounds__(1)
    KERNEL(gate)(volatile uint32_t *flag, uint64_t limit_ns, volatile uint32_t *expired) {
    uint64_t start = clock_ns();
    while (*flag == 0) {
        if (clock_ns() - start >= limit_ns) {
            *expired = 1;
            fence_system();
            return;
        }
    }
}
