#include "diagonals.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lines.hpp"

namespace breadth {

namespace {

constexpr int HALVINGS = 12, NEWTON_STEPS = 12;
constexpr double MARGIN = 1e-10;  // what rounding may hide in a factorisation, for each row

struct Sums {
    double plain = 0.0, scaled = 0.0;
};

BREADTH_CLONES
Sums sum_line(const float* line, const double* u, double own, const double* scaling, int n) {
    double plain = 0.0, scaled = 0.0;
#pragma omp simd reduction(+ : plain, scaled)
    for (int j = 0; j < n; j++) {
        double number = double(line[j]) - own * u[j];
        plain += number;
        scaled += std::fabs(number) * scaling[j];
    }
    return {plain, scaled};
}

double sum_weighted(const std::vector<double>& weights, const std::vector<double>& numbers) {
    return multiply_lines(weights.data(), numbers.data(), int(weights.size()));
}

// R = S - uu' is made diagonally dominant: for any t > 0 the entries d_i = r_ii - sum_{j != i} |r_ij| t_j / t_i will do,
// and t = sqrt(weights) is the best choice. u is 0, or proportional to the row sums of S beside its diagonal.
std::vector<double> dominate(const std::vector<float>& pairs, int n, const std::vector<double>& weights) {
    std::vector<double> scaling(n), zero(n, 0.0), plain(n), flat(n), u(n);
    for (int i = 0; i < n; i++) scaling[i] = std::sqrt(weights[i]);
    double total = 0.0;
    for (int i = 0; i < n; i++) {
        const float* line = pairs.data() + int64_t(i) * n;
        double own = double(line[i]);
        Sums sums = sum_line(line, zero.data(), 0.0, scaling.data(), n);
        plain[i] = own - (sums.scaled - std::fabs(own) * scaling[i]) / scaling[i];
        u[i] = sums.plain - own;
        total += u[i];
    }
    if (total <= 0.0 || n < 2) return plain;
    double factor = std::sqrt(n / ((n - 1.0) * total));
    for (double& number : u) number *= factor;
    for (int i = 0; i < n; i++) {
        const float* line = pairs.data() + int64_t(i) * n;
        double own = double(line[i]) - u[i] * u[i];
        Sums sums = sum_line(line, u.data(), u[i], scaling.data(), n);
        flat[i] = own - (sums.scaled - std::fabs(own) * scaling[i]) / scaling[i];
    }
    return sum_weighted(weights, flat) > sum_weighted(weights, plain) ? flat : plain;
}

// Whether S - diag(d) is positive definite.
bool stays_definite(const std::vector<float>& pairs, int n, const std::vector<double>& d, std::vector<double>& room) {
    room.assign(pairs.begin(), pairs.end());
    for (int i = 0; i < n; i++) room[int64_t(i) * n + i] -= d[i] + MARGIN * n;
    return factorise(room, n);
}

// About the smallest eigenvalue of S, from below: the largest shift for which S - shift * I was seen to be definite.
double bound_eigenvalue(const std::vector<float>& pairs, int n, Clock& clock) {
    std::vector<double> ones(n, 1.0), room;
    double high = ALWAYS, low = ALWAYS;
    for (double d : dominate(pairs, n, ones)) low = std::min(low, d);
    for (int i = 0; i < n; i++) high = std::min(high, double(pairs[int64_t(i) * n + i]));
    if (low < 0.0 && stays_definite(pairs, n, std::vector<double>(n, 0.0), room)) low = 0.0;
    for (int step = 0; step < HALVINGS && !clock.is_over(); step++) {
        double middle = 0.5 * (low + high);
        (stays_definite(pairs, n, std::vector<double>(n, middle), room) ? low : high) = middle;
    }
    return low;
}

// The inverse of a positive definite matrix from its Cholesky factor.
std::vector<double> invert(const std::vector<double>& factor, int n) {
    std::vector<double> lower(size_t(n) * n, 0.0), inverse(size_t(n) * n);
    for (int j = 0; j < n; j++) {  // the columns of the inverse factor, kept as lines
        double* column = lower.data() + int64_t(j) * n;
        column[j] = 1.0 / factor[int64_t(j) * n + j];
        for (int i = j + 1; i < n; i++)
            column[i] = -multiply_lines(factor.data() + int64_t(i) * n + j, column + j, i - j) / factor[int64_t(i) * n + i];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            inverse[int64_t(i) * n + j] = inverse[int64_t(j) * n + i] =
                multiply_lines(lower.data() + int64_t(i) * n + i, lower.data() + int64_t(j) * n + i, n - i);
    return inverse;
}

// Solve a positive definite system; `matrix` is overwritten.
std::vector<double> solve_system(std::vector<double>& matrix, int n, std::vector<double> b) {
    for (int i = 0; i < n; i++) matrix[int64_t(i) * n + i] += 1e-12;
    if (!factorise(matrix, n)) return std::vector<double>(n, 0.0);
    for (int i = 0; i < n; i++) {
        const double* line = matrix.data() + int64_t(i) * n;
        b[i] = (b[i] - multiply_lines(line, b.data(), i)) / line[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        b[i] /= matrix[int64_t(i) * n + i];
        for (int j = 0; j < i; j++) b[j] -= matrix[int64_t(i) * n + j] * b[i];
    }
    return b;
}

// Newton's steps on sum weights_i d_i + mu log det(S - diag(d)) from the smallest eigenvalue, mu falling: an interior
// point method. Every iterate is valid.
std::vector<double> enlarge(const std::vector<float>& pairs, int n, std::vector<double> weights, Clock& clock) {
    double total = std::accumulate(weights.begin(), weights.end(), 0.0), scale = 0.0;
    for (double& weight : weights) weight /= total;
    for (int i = 0; i < n; i++) scale = std::max(scale, double(pairs[int64_t(i) * n + i]));
    std::vector<double> d(n, bound_eigenvalue(pairs, n, clock) - 0.02 * scale), room;
    double barrier = 0.1 * scale / n;
    for (int step = 0; step < NEWTON_STEPS && !clock.is_over(); step++, barrier *= 0.4) {
        if (!stays_definite(pairs, n, d, room)) break;
        std::vector<double> inverse = invert(room, n), slope(n);
        for (int i = 0; i < n; i++) slope[i] = weights[i] - barrier * inverse[int64_t(i) * n + i];
        for (double& number : inverse) number *= number * barrier;
        const std::vector<double> way = solve_system(inverse, n, slope);
        for (double length = 1.0; length > 1e-4; length *= 0.5) {
            std::vector<double> tried = d;
            for (int i = 0; i < n; i++) tried[i] += length * way[i];
            if (!stays_definite(pairs, n, tried, room)) continue;
            d = std::move(tried);
            break;
        }
    }
    return d;
}

}  // namespace

bool factorise(std::vector<double>& matrix, int n) {
    for (int i = 0; i < n; i++) {
        double* own = matrix.data() + int64_t(i) * n;
        for (int j = 0; j <= i; j++) {
            const double* other = matrix.data() + int64_t(j) * n;
            double rest = own[j] - multiply_lines(own, other, j);
            if (j < i) own[j] = rest / other[j];
            else if (rest <= 1e-13) return false;
            else own[i] = std::sqrt(rest);
        }
    }
    return true;
}

std::vector<double> find_diagonal(std::vector<float>& pairs, int n, const std::vector<double>& weights,
                                  Diagonal diagonal, const Block& block, const std::vector<int>& where, Clock& clock) {
    auto find = [&](const std::vector<float>& of) {
        if (diagonal == Diagonal::dominant) return dominate(of, n, weights);
        if (diagonal == Diagonal::largest) return enlarge(of, n, weights, clock);
        return std::vector<double>(n, bound_eigenvalue(of, n, clock));
    };
    if (!block.rules.apart) return find(pairs);
    std::vector<float> without = pairs;  // pairs that never count as 0
    bool any = false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (block.rules.apart[int64_t(where[i]) * block.n + where[j]]) without[int64_t(i) * n + j] = 0.0f, any = true;
    std::vector<double> found = find(without);
    if (any && diagonal != Diagonal::dominant) {
        std::vector<double> other = find(pairs);
        if (sum_weighted(weights, other) >= sum_weighted(weights, found)) return other;
    }
    pairs = std::move(without);
    return found;
}

}  // namespace breadth
