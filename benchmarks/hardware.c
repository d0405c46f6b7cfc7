/* What hardware.py compares the loops of d2l_lab.machine.probes and the frameworks' products with. Compiled with -O3
 * -march=native into a shared library, so that Python hands it the very arrays that the other candidates get. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

struct slice {
    double *a;
    const double *b, *c;
    double s;
    long n;
};

/* The fourth kernel of STREAM (McCalpin): a = b + s c. */
static void *triad(void *slice)
{
    struct slice *p = slice;
    double *restrict a = p->a, s = p->s;
    const double *restrict b = p->b, *restrict c = p->c;
    for (long i = 0; i < p->n; i++)
        a[i] = b[i] + s * c[i];
    return NULL;
}

/* The same with non-temporal stores, on x86: no line of a is read before it is written. Compilers do not make them
 * at -O3. */
static void *triad_past_cache(void *slice)
{
#ifdef __SSE2__
    struct slice p = *(struct slice *)slice;
    for (long i = 0; i < p.n; i += 2)
        _mm_stream_pd(p.a + i, _mm_loadu_pd(p.b + i) + p.s * _mm_loadu_pd(p.c + i));
    _mm_sfence();
    return NULL;
#else
    return triad(slice);
#endif
}

/* Run a triad over n elements in so many threads, the caller's among them. Twice the number of threads divides n. */
void triads(double *a, const double *b, const double *c, double s, long n, int threads, int past_cache)
{
    void *(*kernel)(void *) = past_cache ? triad_past_cache : triad;
    struct slice first = {a, b, c, s, n / threads};
    struct slice *slices = malloc(threads * sizeof *slices);
    pthread_t *others = malloc(threads * sizeof *others);
    for (int t = 1; t < threads; t++) {
        long from = first.n * t;
        slices[t] = (struct slice){a + from, b + from, c + from, s, first.n};
        if (pthread_create(&others[t], NULL, kernel, &slices[t]))
            abort();
    }
    kernel(&first);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], NULL);
    free(slices);
    free(others);
}

/* Follow a ring of pointers for so many steps: each load waits for the one before it. */
void *chase(void *place, long steps)
{
    while (steps--)
        place = *(void **)place;
    return place;
}

/* 64 n additions, each of which waits for the one before it: 64 n cycles. Both operands are registers: newer cores add
 * a small constant while they rename registers, in no time. */
uint64_t add(long n)
{
    uint64_t sum = 1, term = 1;
    while (n--)
#if defined(__x86_64__)
        __asm__ volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(term));
#elif defined(__aarch64__)
        __asm__ volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(term));
#else
#error "write the chain of additions for this instruction set"
#endif
    return sum;
}

/* The float32 lanes of the widest vectors that this CPU's flags promise, and as many sums as its registers hold. */
#if defined(__AVX512F__)
enum { LANES = 16, SUMS = 24 };
#elif defined(__AVX__)
enum { LANES = 8, SUMS = 12 };
#elif defined(__aarch64__)
enum { LANES = 4, SUMS = 24 };
#else
enum { LANES = 4, SUMS = 12 };
#endif
typedef float vector __attribute__((vector_size(4 * LANES)));
#define TWELVE(DO, x) DO(x##0) DO(x##1) DO(x##2) DO(x##3) DO(x##4) DO(x##5) \
                      DO(x##6) DO(x##7) DO(x##8) DO(x##9) DO(x##a) DO(x##b)
#define DEFINE(sum) vector sum = total += term; /* not one like another, or the compiler keeps only one */
#define MULTIPLY_ADD(sum) sum = sum * factor + term;
#define COLLECT(sum) total += sum;

int lanes(void) { return LANES; }
int sums(void) { return SUMS; }

/* n times SUMS multiply-adds on vectors, none of which waits for another of its round: 2 n SUMS LANES flops. */
float multiply_add(long n, float x, float y)
{
    vector total = {0}, factor = x - total, term = y - total;
    TWELVE(DEFINE, s)
    TWELVE(DEFINE, t)
    while (n--) {
        TWELVE(MULTIPLY_ADD, s)
        if (SUMS == 24) {
            TWELVE(MULTIPLY_ADD, t)
        }
    }
    TWELVE(COLLECT, s)
    TWELVE(COLLECT, t)
    return total[0];
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Take turns so often between long work on vectors and a short chain of additions, which so finds the clock that the
 * core keeps under this work (it may be lower than that of other work). Note the seconds of each turn. */
float alternate(long turns, long multiply_adds, long additions, double *multiplying, double *adding)
{
    volatile float keep = 0;
    for (long i = 0; i < turns; i++) {
        double start = now();
        keep += multiply_add(multiply_adds, 0.5f, 1);
        double middle = now();
        add(additions);
        multiplying[i] = middle - start;
        adding[i] = now() - middle;
    }
    return keep;
}
