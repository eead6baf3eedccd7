// Loops over one line of numbers, compiled for several processors.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(BREADTH_PLAIN)
#define BREADTH_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define BREADTH_CLONES
#endif

namespace breadth {

struct Largest {
    double of_all, of_free;
};

// The largest merit_i + coupling * line_i + mask_i, for two masks (0, or NEVER for what does not count).
Largest find_largest_gains(const double* merits, const float* line, double coupling, const double* all,
                           const double* free, int n);

// The first row at which that sum is largest.
int find_row(const double* merits, const float* line, double coupling, const double* mask, int n);

void add_line(double* out, const float* line, double factor, int n);                   // out += factor * line
void add_lines(double* out, const float* plus, const float* minus, double factor, int n);  // out += factor * (plus - minus)
double multiply_lines(const double* one, const double* other, int n);
double multiply_exactly(const float* row, const double* direction, int64_t n);

// Inner products of three rows with three others: out[3 * r + c].
void multiply_three(const float* const rows[3], const float* const columns[3], int64_t n, float out[9]);

}  // namespace breadth
