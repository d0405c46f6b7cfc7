#include <math.h>
#include <string.h>
// e^x for x <= 0: x = k ln 2 + r, and a polynomial for e^r
static inline float exp_(float x) {
  x = x > -87 ? x : -87;
  int k = (int)(x * 1.44269504f - 0.5f), bits = (k + 127) << 23;
  float r = x - k * 0.693147181f, power;  // of two: its bits say k
  memcpy(&power, &bits, 4);
  return power * (1 + r * (1 + r * (1 / 2.f + r * (1 / 6.f
         + r * (1 / 24.f + r * (1 / 120.f + r / 720))))));
}
static inline float gelu(float z) {
  float t = 1.5957691f * (z + 0.044715f * z * z * z), e = exp_(-fabsf(t));
  return z * (t < 0 ? e : 1) / (1 + e);  // t = 2 u
}
