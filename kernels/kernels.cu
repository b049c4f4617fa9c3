// All kernels as one module.
#include "pattern.cu"
#include "stream.cu"
#include "chase.cu"
#include "gate.cu"
