#define ROWS 6
#define COLS (2 * LANES)
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4)));
#define VEC(p) (*(vec *)(p))
static inline void tile(const float *a, int lda, const float *b, int ldb,
                        float *c, int ldc, int k, int n) {
  for (int h = 0; h < n; h += COLS, b += COLS, c += COLS) {
    vec s[2 * ROWS] = {};
    for (int j = 0; j < k; j++)
      for (int i = 0; i < 2 * ROWS; i++)  // half i % 2 of row i / 2
        s[i] += a[i / 2 * lda + j] * VEC(b + j * ldb + i % 2 * LANES);
    for (int i = 0; i < 2 * ROWS; i++)
      VEC(c + i / 2 * ldc + i % 2 * LANES) += s[i];
  }
}
