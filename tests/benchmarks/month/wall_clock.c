/* Shifts the wall clock of a process by the nanoseconds that the file SIMULATED_CLOCK holds.

   Loaded before other libraries (LD_PRELOAD), so that Python, DuckDB and the Delta library see one
   time. Clocks that measure how long something takes go on as they are, and so do waits. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define LONGEST_UPTIME 1000000000 /* seconds; a later moment is one of the wall clock */

typedef int (*getter)(clockid_t, struct timespec *);
typedef int (*waiter)(sem_t *, const struct timespec *);
typedef int (*sleeper)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

static const volatile int64_t unshifted = 0;
static const volatile int64_t *shift_ns = &unshifted;

__attribute__((constructor)) static void open_clock(void) {
  const char *path = getenv("SIMULATED_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *found = mmap(NULL, sizeof *shift_ns, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (found != MAP_FAILED) shift_ns = found;
}

static struct timespec shifted(struct timespec moment, int64_t by_ns) {
  int64_t ns = moment.tv_sec * SECOND + moment.tv_nsec + by_ns;
  return (struct timespec){ns / SECOND, ns % SECOND};
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static getter real;
  if (!real) real = (getter)dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    *now = shifted(*now, *shift_ns);
  return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec precise;
  (void)zone;
  int failed = clock_gettime(CLOCK_REALTIME, &precise);
  *now = (struct timeval){precise.tv_sec, precise.tv_nsec / 1000};
  return failed;
}

time_t time(time_t *now) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now) *now = precise.tv_sec;
  return precise.tv_sec;
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
  static waiter real;
  if (!real) real = (waiter)dlsym(RTLD_NEXT, "sem_timedwait");
  struct timespec end = shifted(*until, -*shift_ns);
  return real(semaphore, &end);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until) {
  static sleeper real;
  if (!real) real = (sleeper)dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (!real) real = (sleeper)dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  struct timespec end = *until;
  if (end.tv_sec > LONGEST_UPTIME) end = shifted(end, -*shift_ns);
  return real(condition, mutex, &end);
}
