// All heads of attention, for the section that makes a transformer fast: the loops around `attend` and `gradient`.
//
// The program that includes this may define CORES, how many of the machine's it uses. It defines W, the numbers in a
// query, and
//   void weigh(const head &x, int i, int first, int keys, float *p), which computes the weights p of the first keys for
//     ROWS queries, the first one i: 0 for later keys, and for queries before `first`,
//   void attend(const head &x, int i, int keys, float *p), which adds to these queries' outputs,
//   void gradient(const head &x, int i, int keys, float *p), which adds what they give to the gradients.
// The number of positions, n, is a multiple of COLS, and ROWS at least.
#include <algorithm>
#include <thread>
#include <vector>

#ifndef CORES
#define CORES int(std::thread::hardware_concurrency())
#endif

struct head {  // rows of q, k, v and their gradients lie ld numbers apart, rows of o and its gradient g `width` numbers
  const float *q, *k, *v, *g;
  float *o, *dq, *dk, *dv;
  int ld, width, n;
  const float *kt, *vt;  // keys and values transposed
};

static void attend(const head &x, int i, int keys, float *p);
static void gradient(const head &x, int i, int keys, float *p);
static void weigh(const head &x, int i, int first, int keys, float *p);

static std::vector<float> transposed(const float *x, int ld, int n) {
  std::vector<float> xt(n * W);
  for (int h = 0; h < W; h++)
    for (int j = 0; j < n; j++) xt[h * n + j] = x[j * ld + h];
  return xt;
}

static void clear(float *x, int ld, int n) {
  for (int i = 0; x && i < n; i++) std::fill_n(x + i * ld, W, 0.f);
}

static void one_head(head x) {
  clear(x.o, x.width, x.n), clear(x.dq, x.ld, x.n), clear(x.dk, x.ld, x.n), clear(x.dv, x.ld, x.n);
  std::vector<float> kt = transposed(x.k, x.ld, x.n), vt, p(ROWS * x.n);
  if (x.g) vt = transposed(x.v, x.ld, x.n);
  x.kt = kt.data(), x.vt = vt.data();
  for (int first = 0; first < x.n; first += ROWS) {
    int i = std::min(first, x.n - ROWS), keys = (i + ROWS + COLS - 1) / COLS * COLS;
    weigh(x, i, first, keys, p.data());
    (x.g ? gradient : attend)(x, i, keys, p.data());
  }
}

// Give each head of B sequences to a core; with a gradient g, compute the gradients of q, k and v, else the output.
static void all_heads(head all, int parts, int B, int h) {
  all.width = h * W, all.ld = parts * all.width;
  int threads = std::max(1, std::min(B * h, CORES));
  auto some = [=](int first) {
    for (int i = first; i < B * h; i += threads) {
      head x = all;
      size_t row = size_t(i / h) * x.n, in = row * x.ld + i % h * parts * W, out = row * x.width + i % h * W;
      x.q += in, x.k += in, x.v += in;
      if (x.g)
        x.g += out, x.dq += in, x.dk += in, x.dv += in;
      else
        x.o += out;
      one_head(x);
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; i++) others.emplace_back(some, i);
  some(0);
  for (auto &other : others) other.join();
}

// In q, k, v and their gradients a row has `parts` times W numbers for each head, in o and g it has W.
extern "C" void attention(const float *q, const float *k, const float *v, float *o, int parts, int B, int n, int h) {
  head all = {};
  all.q = q, all.k = k, all.v = v, all.o = o, all.n = n;
  all_heads(all, parts, B, h);
}

extern "C" void attention_gradient(const float *q, const float *k, const float *v, const float *g, float *dq, float *dk,
                                   float *dv, int parts, int B, int n, int h) {
  head all = {};
  all.q = q, all.k = k, all.v = v, all.g = g, all.dq = dq, all.dk = dk, all.dv = dv, all.n = n;
  all_heads(all, parts, B, h);
}
