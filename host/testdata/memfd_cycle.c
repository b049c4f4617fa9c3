// One memfd shared between two processes, over and over, with nothing around the system calls: the yardstick for the
// phases transfer and map of the path memfd.
//
//	gcc -O2 -o memfd_cycle memfd_cycle.c
//	memfd_cycle BYTES CYCLES blocked|polling
//
// A cycle is: the producer makes and fills a memfd and says so; the consumer answers that it waits; the descriptor is sent
// with SCM_RIGHTS over a SOCK_SEQPACKET pair, received (in a blocking recvmsg, or by polling), mapped, read once a page,
// unmapped and closed; the producer releases it. Each process is pinned to a core of its own where there are two.
// Prints "phase,median in nanoseconds" lines. transfer is the consumer's clock after recvmsg minus the producer's before
// sendmsg; both read CLOCK_MONOTONIC.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TRANSFER, MAP, FIRST_TOUCH, UNMAP, PHASES };
static const char *const names[PHASES] = {"transfer", "map", "first_touch", "unmap"};

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

static void die(const char *what) {
	perror(what);
	exit(1);
}

// pin binds the process to the nth core that it may use, where there are at least two.
static void pin(int nth) {
	cpu_set_t allowed, one;
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
		return;
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && nth-- == 0)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

static void say(int sock) {
	char c = 1;
	if (send(sock, &c, 1, 0) != 1)
		die("send");
}

static void hear(int sock) {
	char c;
	if (recv(sock, &c, 1, 0) != 1)
		die("recv");
}

// A message that carries a time and a descriptor.
struct message {
	struct msghdr header;
	struct iovec part;
	int64_t sent;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
};

static void prepare(struct message *m) {
	memset(m, 0, sizeof *m);
	m->part = (struct iovec){&m->sent, sizeof m->sent};
	m->header.msg_iov = &m->part;
	m->header.msg_iovlen = 1;
	m->header.msg_control = m->control.bytes;
	m->header.msg_controllen = sizeof m->control.bytes;
}

static void consume(int sock, size_t bytes, int cycles, int polling) {
	int64_t *took[PHASES];
	for (int p = 0; p < PHASES; p++)
		took[p] = calloc(cycles, sizeof *took[p]);
	volatile char sink = 0;
	size_t page = sysconf(_SC_PAGESIZE);
	for (int i = 0; i < cycles; i++) {
		struct message m;
		hear(sock);
		prepare(&m);
		say(sock);
		ssize_t n;
		do
			n = recvmsg(sock, &m.header, MSG_CMSG_CLOEXEC | (polling ? MSG_DONTWAIT : 0));
		while (polling && n < 0);
		int64_t received = now();
		if (n <= 0 || CMSG_FIRSTHDR(&m.header) == NULL)
			die("recvmsg");
		int fd;
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m.header)), sizeof fd);
		int64_t t0 = now();
		char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		int64_t t1 = now();
		if (p == MAP_FAILED)
			die("mmap");
		for (size_t o = 0; o < bytes; o += page)
			sink += p[o];
		int64_t t2 = now();
		munmap(p, bytes);
		close(fd);
		int64_t t3 = now();
		took[TRANSFER][i] = received - m.sent;
		took[MAP][i] = t1 - t0;
		took[FIRST_TOUCH][i] = t2 - t1;
		took[UNMAP][i] = t3 - t2;
		say(sock);
	}
	for (int p = 0; p < PHASES; p++) {
		qsort(took[p], cycles, sizeof *took[p], ascending);
		printf("%s,%lld\n", names[p], (long long)took[p][cycles / 2]);
	}
}

static void produce(int sock, size_t bytes, int cycles) {
	for (int i = 0; i < cycles; i++) {
		int fd = memfd_create("cycle", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, bytes) != 0)
			die("memfd");
		char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			die("mmap");
		memset(p, i, bytes);
		say(sock);
		struct message m;
		prepare(&m);
		struct cmsghdr *c = CMSG_FIRSTHDR(&m.header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
		hear(sock);
		m.sent = now();
		if (sendmsg(sock, &m.header, 0) < 0)
			die("sendmsg");
		hear(sock);
		munmap(p, bytes);
		close(fd);
	}
}

int main(int argc, char **argv) {
	if (argc != 4) {
		fprintf(stderr, "usage: memfd_cycle BYTES CYCLES blocked|polling\n");
		return 2;
	}
	size_t bytes = strtoull(argv[1], NULL, 0);
	int cycles = atoi(argv[2]), polling = strcmp(argv[3], "polling") == 0, socks[2];
	if (bytes == 0 || cycles < 1 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) != 0)
		die("socketpair");
	pid_t child = fork();
	if (child == 0) {
		close(socks[0]);
		pin(1);
		consume(socks[1], bytes, cycles, polling);
		return fflush(stdout);
	}
	close(socks[1]);
	pin(0);
	produce(socks[0], bytes, cycles);
	int status;
	return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
