#include "lines.hpp"

#include <algorithm>

namespace breadth {

BREADTH_CLONES
Largest find_largest_gains(const double* merits, const float* line, double coupling, const double* all,
                           const double* free, int n) {
    double of_all = -1e300, of_free = -1e300;
#pragma omp simd reduction(max : of_all, of_free)
    for (int i = 0; i < n; i++) {
        double gain = merits[i] + coupling * double(line[i]);
        of_all = std::max(of_all, gain + all[i]);
        of_free = std::max(of_free, gain + free[i]);
    }
    return {of_all, of_free};
}

int find_row(const double* merits, const float* line, double coupling, const double* mask, int n) {
    int row = 0;
    double most = -1e300;
    for (int i = 0; i < n; i++) {
        double gain = merits[i] + coupling * double(line[i]) + mask[i];
        if (gain > most) most = gain, row = i;
    }
    return row;
}

BREADTH_CLONES
void add_line(double* out, const float* line, double factor, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) out[i] += factor * double(line[i]);
}

BREADTH_CLONES
void add_lines(double* out, const float* plus, const float* minus, double factor, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) out[i] += factor * (double(plus[i]) - double(minus[i]));
}

BREADTH_CLONES
double multiply_lines(const double* one, const double* other, int n) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (int i = 0; i < n; i++) total += one[i] * other[i];
    return total;
}

BREADTH_CLONES
double multiply_exactly(const float* row, const double* direction, int64_t n) {
    double total = 0.0;
#pragma omp simd reduction(+ : total)
    for (int64_t i = 0; i < n; i++) total += double(row[i]) * direction[i];
    return total;
}

BREADTH_CLONES
void multiply_three(const float* const rows[3], const float* const columns[3], int64_t n, float out[9]) {
    const float *a = rows[0], *b = rows[1], *c = rows[2], *u = columns[0], *v = columns[1], *w = columns[2];
    float au = 0, av = 0, aw = 0, bu = 0, bv = 0, bw = 0, cu = 0, cv = 0, cw = 0;
#pragma omp simd reduction(+ : au, av, aw, bu, bv, bw, cu, cv, cw)
    for (int64_t i = 0; i < n; i++) {
        au += a[i] * u[i]; av += a[i] * v[i]; aw += a[i] * w[i];
        bu += b[i] * u[i]; bv += b[i] * v[i]; bw += b[i] * w[i];
        cu += c[i] * u[i]; cv += c[i] * v[i]; cw += c[i] * w[i];
    }
    out[0] = au; out[1] = av; out[2] = aw; out[3] = bu; out[4] = bv; out[5] = bw; out[6] = cu; out[7] = cv; out[8] = cw;
}

}  // namespace breadth
