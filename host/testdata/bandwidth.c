// What a C compiler makes of plain loops over memory that is shared through a memfd: the yardstick for the kernels read,
// write and copy of package host.
//
//	gcc -O3 -march=native -pthread -o bandwidth bandwidth.c
//	bandwidth read|write|copy BYTES THREADS SAMPLES [cold]
//
// Prints the median and the best of the samples in bytes of payload a second. A sample is one pass of all threads over their parts of
// the buffer, from the release of the barrier to the last one's end. With "cold" the buffers' lines are evicted first.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

static uint64_t *shared, *local;
static size_t words;
static int threads, samples, cold;
static char kernel;
static atomic_int arrived;
static atomic_uint passed;
static int64_t began, *ends;
static double *rates;
static volatile uint64_t sink;

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

// arrive spins until all threads are there. The last one gets 1 and releases the others by adding to passed.
static int arrive(void) {
	unsigned at = atomic_load(&passed);
	if (atomic_fetch_add(&arrived, 1) + 1 == threads) {
		atomic_store(&arrived, 0);
		return 1;
	}
	while (atomic_load(&passed) == at)
		;
	return 0;
}

static void evict(const void *p, size_t bytes) {
#if defined(__x86_64__)
	for (size_t i = 0; i < bytes; i += 64)
		_mm_clflush((const char *)p + i);
	_mm_mfence();
#elif defined(__aarch64__)
	for (size_t i = 0; i < bytes; i += 64)
		__asm__ volatile("dc civac, %0" ::"r"((const char *)p + i) : "memory");
	__asm__ volatile("dsb ish" ::: "memory");
#endif
}

static uint64_t read_words(const uint64_t *p, size_t n) {
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += p[i];
	return sum;
}

static void write_words(uint64_t *p, size_t n) {
	for (size_t i = 0; i < n; i++)
		p[i] = 0x5555555555555555;
}

static void copy_words(uint64_t *restrict to, const uint64_t *restrict from, size_t n) {
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

static void *thread(void *arg) {
	int id = (int)(intptr_t)arg;
	size_t first = words / threads * id, n = id == threads - 1 ? words - first : words / threads;
	memset(local + first, 1, n * 8);
	for (int s = 0; s < samples; s++) {
		if (cold) {
			evict(shared + first, n * 8);
			evict(local + first, n * 8);
		}
		if (arrive()) {
			began = now();
			atomic_fetch_add(&passed, 1);
		}
		if (kernel == 'r')
			sink += read_words(shared + first, n);
		else if (kernel == 'w')
			write_words(shared + first, n);
		else
			copy_words(local + first, shared + first, n);
		ends[id] = now();
		if (arrive()) {
			int64_t last = began;
			for (int i = 0; i < threads; i++)
				last = ends[i] > last ? ends[i] : last;
			rates[s] = words * 8 / ((last - began) / 1e9);
			atomic_fetch_add(&passed, 1);
		}
	}
	return NULL;
}

static int ascending(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
	if (argc < 5) {
		fprintf(stderr, "usage: bandwidth read|write|copy BYTES THREADS SAMPLES [cold]\n");
		return 2;
	}
	kernel = argv[1][0];
	words = strtoull(argv[2], NULL, 0) / 8;
	threads = atoi(argv[3]);
	samples = atoi(argv[4]);
	cold = argc > 5;
	int fd = memfd_create("bandwidth", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, words * 8) != 0) {
		perror("memfd");
		return 1;
	}
	shared = mmap(NULL, words * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	local = mmap(NULL, words * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || local == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	memset(shared, 1, words * 8);
	ends = calloc(threads, sizeof *ends);
	rates = calloc(samples, sizeof *rates);

	// One thread for each of the first cores that this process may use.
	cpu_set_t allowed;
	sched_getaffinity(0, sizeof allowed, &allowed);
	pthread_t *ids = calloc(threads, sizeof *ids);
	int cpu = -1;
	for (int i = 0; i < threads; i++) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &allowed));
		cpu_set_t one;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		pthread_attr_t attr;
		pthread_attr_init(&attr);
		pthread_attr_setaffinity_np(&attr, sizeof one, &one);
		if (pthread_create(&ids[i], &attr, thread, (void *)(intptr_t)i) != 0) {
			perror("pthread_create");
			return 1;
		}
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	qsort(rates, samples, sizeof *rates, ascending);
	printf("%.0f %.0f\n", rates[samples / 2], rates[samples - 1]);
	return 0;
}
