#include "scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "lines.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define BREADTH_X86 1
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

namespace breadth {

namespace {

constexpr int64_t STEP = 256;  // rows handled together, so that they are still in the cache for the next directions
constexpr int MOST_ROWS = 8;   // rows that `gather` multiplies together

// A half as a float.
float widen(uint16_t half) {
    uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 1023, bits;
    float out;
    if (exponent == 0) {
        out = std::ldexp(float(fraction), -24);
        return sign ? -out : out;
    }
    bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | (fraction << 13);
    std::memcpy(&out, &bits, 4);
    return out;
}

inline float widen(float number) { return number; }
inline float widen(int8_t number) { return float(number); }

#ifdef BREADTH_X86
#define BREADTH_WIDE __attribute__((target("avx512f,avx512bw,avx512vl")))
#define BREADTH_NARROW __attribute__((target("avx2,fma,f16c")))

BREADTH_WIDE inline __m512 load_wide(const float* at) { return _mm512_loadu_ps(at); }
BREADTH_WIDE inline __m512 load_wide(const int8_t* at) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}
BREADTH_WIDE inline __m512 load_wide(const uint16_t* at) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
BREADTH_NARROW inline __m256 load_narrow(const float* at) { return _mm256_loadu_ps(at); }
BREADTH_NARROW inline __m256 load_narrow(const int8_t* at) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(at))));
}
BREADTH_NARROW inline __m256 load_narrow(const uint16_t* at) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

// One row with COUNT directions; four sums run side by side. How many coordinates were multiplied.
template <typename Row, int COUNT>
BREADTH_WIDE inline int64_t multiply_row_wide(const Row* row, const float* w, int64_t d, float* out) {
    constexpr int SIDES = 4 / COUNT;
    __m512 sums[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    int64_t j = 0;
    for (; j + 16 * SIDES <= d; j += 16 * SIDES)
        for (int side = 0; side < SIDES; side++) {
            __m512 numbers = load_wide(row + j + 16 * side);
            for (int b = 0; b < COUNT; b++)
                sums[b * SIDES + side] =
                    _mm512_fmadd_ps(numbers, _mm512_loadu_ps(w + b * d + j + 16 * side), sums[b * SIDES + side]);
        }
    for (int b = 0; b < COUNT; b++) {
        __m512 all = sums[b * SIDES];
        for (int side = 1; side < SIDES; side++) all = _mm512_add_ps(all, sums[b * SIDES + side]);
        out[b] = _mm512_reduce_add_ps(all);
    }
    return j;
}

template <typename Row, int COUNT>
BREADTH_NARROW inline int64_t multiply_row_narrow(const Row* row, const float* w, int64_t d, float* out) {
    constexpr int SIDES = 4 / COUNT;
    __m256 sums[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
    int64_t j = 0;
    for (; j + 8 * SIDES <= d; j += 8 * SIDES)
        for (int side = 0; side < SIDES; side++) {
            __m256 numbers = load_narrow(row + j + 8 * side);
            for (int b = 0; b < COUNT; b++)
                sums[b * SIDES + side] =
                    _mm256_fmadd_ps(numbers, _mm256_loadu_ps(w + b * d + j + 8 * side), sums[b * SIDES + side]);
        }
    for (int b = 0; b < COUNT; b++) {
        float lanes[8];
        __m256 all = sums[b * SIDES];
        for (int side = 1; side < SIDES; side++) all = _mm256_add_ps(all, sums[b * SIDES + side]);
        _mm256_storeu_ps(lanes, all);
        out[b] = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
    }
    return j;
}
#endif

template <typename Row, int COUNT>
inline int64_t multiply_row_plainly(const Row* row, const float* w, int64_t d, float* out) {
    for (int b = 0; b < COUNT; b++) {
        float total = 0.0f;
#pragma omp simd reduction(+ : total)
        for (int64_t j = 0; j < d; j++) total += widen(row[j]) * w[b * d + j];
        out[b] = total;
    }
    return d;
}

// Some rows with COUNT directions, in the way of one processor.
#define BREADTH_SCAN(NAME, TARGET, MULTIPLY)                                                                           \
    template <typename Row, int COUNT>                                                                                 \
    TARGET void NAME(const Row* rows, int64_t n, int64_t d, const float* scales, const float* w, float* out,           \
                     int64_t stride) {                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            float found[COUNT];                                                                                        \
            const Row* row = rows + i * d;                                                                             \
            int64_t done = MULTIPLY<Row, COUNT>(row, w, d, found);                                                     \
            for (int b = 0; b < COUNT; b++) {                                                                          \
                for (int64_t j = done; j < d; j++) found[b] += widen(row[j]) * w[b * d + j];                           \
                out[b * stride + i] = found[b] * (scales ? scales[i] : 1.0f);                                          \
            }                                                                                                          \
        }                                                                                                              \
    }

BREADTH_SCAN(scan_plainly, , multiply_row_plainly)
#ifdef BREADTH_X86
BREADTH_SCAN(scan_wide, BREADTH_WIDE, multiply_row_wide)
BREADTH_SCAN(scan_narrow, BREADTH_NARROW, multiply_row_narrow)
#endif

template <typename Row, int COUNT>
void scan_with(const Row* rows, int64_t n, int64_t d, const float* scales, const float* w, float* out, int64_t stride) {
#ifdef BREADTH_X86
    static const bool wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    static const bool narrow =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    if (wide) return scan_wide<Row, COUNT>(rows, n, d, scales, w, out, stride);
    if (narrow) return scan_narrow<Row, COUNT>(rows, n, d, scales, w, out, stride);
#endif
    scan_plainly<Row, COUNT>(rows, n, d, scales, w, out, stride);
}

template <typename Row>
void scan(const Row* rows, int64_t n, int64_t d, const float* scales, const float* directions, int64_t count,
          float* out, int64_t stride) {
    for (int64_t first = 0; first < n; first += STEP) {
        const int64_t some = std::min(STEP, n - first);
        const float* factors = scales ? scales + first : nullptr;
        for (int64_t b = 0, wide = 0; b < count; b += wide) {
            wide = count - b >= 4 ? 4 : count - b >= 2 ? 2 : 1;
            const auto scan_some = wide == 4 ? scan_with<Row, 4> : wide == 2 ? scan_with<Row, 2> : scan_with<Row, 1>;
            scan_some(rows + first * d, some, d, factors, directions + b * d, out + b * stride + first, stride);
        }
    }
}

#ifdef BREADTH_X86

// sums[r * 16 * GROUPS + b] = sum_j codes[r, j] * directions[j, b], for ROWS rows and GROUPS registers of directions.
template <int ROWS, int GROUPS>
__attribute__((target("avx512f,avx512bw,avx512vnni"))) void multiply_wide(const int8_t* codes, int64_t width,
                                                                          const uint8_t* packed, int32_t* sums) {
    __m512i total[ROWS][GROUPS];
    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < GROUPS; g++) total[r][g] = _mm512_setzero_si512();
    for (int64_t word = 0; word < width / 4; word++) {
        __m512i own[GROUPS];
        for (int g = 0; g < GROUPS; g++) own[g] = _mm512_loadu_si512(packed + (word * GROUPS + g) * 64);
        for (int r = 0; r < ROWS; r++) {
            int32_t four;
            std::memcpy(&four, codes + r * width + 4 * word, 4);
            __m512i spread = _mm512_set1_epi32(four);
            for (int g = 0; g < GROUPS; g++) total[r][g] = _mm512_dpbusd_epi32(total[r][g], own[g], spread);
        }
    }
    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < GROUPS; g++) _mm512_storeu_si512(sums + (r * GROUPS + g) * 16, total[r][g]);
}

template <int ROWS, int GROUPS>
__attribute__((target("avx2,avxvnni"))) void multiply_narrow(const int8_t* codes, int64_t width, const uint8_t* packed,
                                                             int32_t* sums) {
    __m256i total[ROWS][GROUPS];
    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < GROUPS; g++) total[r][g] = _mm256_setzero_si256();
    for (int64_t word = 0; word < width / 4; word++) {
        __m256i own[GROUPS];
        for (int g = 0; g < GROUPS; g++)
            own[g] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed + (word * GROUPS + g) * 32));
        for (int r = 0; r < ROWS; r++) {
            int32_t four;
            std::memcpy(&four, codes + r * width + 4 * word, 4);
            __m256i spread = _mm256_set1_epi32(four);
            for (int g = 0; g < GROUPS; g++) total[r][g] = _mm256_dpbusd_avx_epi32(total[r][g], own[g], spread);
        }
    }
    for (int r = 0; r < ROWS; r++)
        for (int g = 0; g < GROUPS; g++)
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + (r * GROUPS + g) * 8), total[r][g]);
}

// The sums of the next rows; how many rows these are, 0 where too few are left for one pass.
int multiply_next(const CodedScan& s, int64_t row, int32_t* sums) {
    const int8_t* codes = s.codes + row * s.width;
    const int64_t left = s.rows - row;
    const bool wide = count_coded() == 64;
    const int64_t groups = s.together / (wide ? 16 : 8);
    if (wide && groups == 1 && left >= 8) return multiply_wide<8, 1>(codes, s.width, s.packed, sums), 8;
    if (wide && groups == 2 && left >= 8) return multiply_wide<8, 2>(codes, s.width, s.packed, sums), 8;
    if (wide && groups == 4 && left >= 4) return multiply_wide<4, 4>(codes, s.width, s.packed, sums), 4;
    if (!wide && groups == 1 && left >= 8) return multiply_narrow<8, 1>(codes, s.width, s.packed, sums), 8;
    if (!wide && groups == 2 && left >= 4) return multiply_narrow<4, 2>(codes, s.width, s.packed, sums), 4;
    if (!wide && groups == 4 && left >= 2) return multiply_narrow<2, 4>(codes, s.width, s.packed, sums), 2;
    return 0;
}

#else

int multiply_next(const CodedScan&, int64_t, int32_t*) { return 0; }

#endif

int multiply_rest(const CodedScan& s, int64_t row, int32_t* sums) {
    const int8_t* codes = s.codes + row * s.width;
    for (int64_t b = 0; b < s.together; b++) {
        int32_t total = 0;
        for (int64_t j = 0; j < s.width; j++)
            total += int32_t(codes[j]) * int32_t(s.packed[((j / 4) * s.together + b) * 4 + j % 4]);
        sums[b] = total;
    }
    return 1;
}

BREADTH_CLONES
int32_t sum_codes(const int8_t* codes, int64_t width) {
    int32_t total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < width; j++) total += codes[j];
    return total;
}

BREADTH_CLONES
int count_near(const int32_t* sums, int32_t shift, float scale, float error, const float* factors,
               const float* lengths, const float* bars, int64_t n) {
    int near = 0;
#pragma omp simd reduction(+ : near)
    for (int64_t b = 0; b < n; b++)
        near += float(sums[b] - shift) * scale * factors[b] + lengths[b] * error >= bars[b];
    return near;
}

// Note the directions for which a row reaches the bar; how many rows the fullest list has then.
int64_t take(CodedScan& s, const int32_t* sums, int64_t row) {
    const int32_t shift = 128 * sum_codes(s.codes + row * s.width, s.width);
    const float scale = s.scales[row], error = s.errors[row];
    if (!count_near(sums, shift, scale, error, s.factors, s.lengths, s.bars, s.together)) return 0;
    int64_t fullest = 0;
    for (int64_t b = 0; b < s.together; b++) {
        float score = float(sums[b] - shift) * scale * s.factors[b];
        if (score + s.lengths[b] * error < s.bars[b]) continue;
        s.positions[b * s.most + s.counts[b]] = row;
        s.scores[b * s.most + s.counts[b]] = score;
        fullest = std::max(fullest, ++s.counts[b]);
    }
    return fullest;
}

// Let only those rows stay in a list that may be among the best.
void raise_bar(CodedScan& s, int64_t b) {
    int64_t *positions = s.positions + b * s.most, count = s.counts[b], kept = 0;
    float* scores = s.scores + b * s.most;
    std::vector<float> lower(count);
    for (int64_t i = 0; i < count; i++) lower[i] = scores[i] - s.lengths[b] * s.errors[positions[i]];
    std::nth_element(lower.begin(), lower.begin() + (s.keeps[b] - 1), lower.end(), std::greater<>());
    float bar = lower[s.keeps[b] - 1] - 2 * s.rounding[b];
    for (int64_t i = 0; i < count; i++)
        if (scores[i] + s.lengths[b] * s.errors[positions[i]] >= bar)
            positions[kept] = positions[i], scores[kept] = scores[i], kept++;
    s.counts[b] = kept;
    s.bars[b] = std::max(s.bars[b], bar);
}

}  // namespace

void scan_codes(const int8_t* rows, int64_t n, int64_t d, const float* scales, const float* directions, int64_t count,
                float* out, int64_t stride) {
    scan(rows, n, d, scales, directions, count, out, stride);
}

void scan_floats(const float* rows, int64_t n, int64_t d, const float* scales, const float* directions, int64_t count,
                 float* out, int64_t stride) {
    scan(rows, n, d, scales, directions, count, out, stride);
}

void scan_halves(const uint16_t* rows, int64_t n, int64_t d, const float* scales, const float* directions,
                 int64_t count, float* out, int64_t stride) {
    scan(rows, n, d, scales, directions, count, out, stride);
}

int64_t sift(const float* scores, const float* errors, int64_t n, float length, float rounding, float least,
             int64_t* positions, float* reaches) {
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        float reach = length * errors[i] + rounding;
        if (scores[i] + reach >= least) positions[count] = i, reaches[count++] = reach;
    }
    return count;
}

void fill_gram(const float* rows, int64_t n, int64_t d, int64_t old, float* out, int64_t stride) {
    float found[9];
    for (int64_t i = old; i < n; i += 3) {
        int64_t own[3] = {i, std::min(i + 1, n - 1), std::min(i + 2, n - 1)};  // the last row again where there are fewer
        const float* left[3] = {rows + own[0] * d, rows + own[1] * d, rows + own[2] * d};
        for (int64_t j = 0; j <= own[2]; j += 3) {
            int64_t other[3] = {j, std::min(j + 1, n - 1), std::min(j + 2, n - 1)};
            const float* right[3] = {rows + other[0] * d, rows + other[1] * d, rows + other[2] * d};
            multiply_three(left, right, d, found);
            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++) out[own[r] * stride + other[c]] = found[3 * r + c];
        }
    }
    for (int64_t i = old; i < n; i++)
        for (int64_t j = 0; j < i; j++) out[j * stride + i] = out[i * stride + j];
}

int count_coded() {
#ifdef BREADTH_X86
    static const int found = [] {
        if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw")) return 64;
        return __builtin_cpu_supports("avxvnni") ? 32 : 0;
    }();
    return found;
#else
    return 0;
#endif
}

int64_t gather(CodedScan& s, int64_t first) {
    std::vector<int32_t> sums(MOST_ROWS * s.together);
    int64_t row = first, fullest = *std::max_element(s.counts, s.counts + s.together);
    while (row < s.rows && fullest + MOST_ROWS <= s.most) {
        int count = multiply_next(s, row, sums.data());
        if (count == 0) count = multiply_rest(s, row, sums.data());
        for (int r = 0; r < count; r++) fullest = std::max(fullest, take(s, sums.data() + r * s.together, row + r));
        row += count;
        if (fullest + MOST_ROWS <= s.most) continue;
        fullest = 0;
        for (int64_t b = 0; b < s.together; b++) {
            if (2 * s.counts[b] > s.most && s.counts[b] >= s.keeps[b]) raise_bar(s, b);
            fullest = std::max(fullest, s.counts[b]);
        }
        if (4 * fullest > 3 * s.most) break;  // too many of them are alike
    }
    return row;
}

bool read_rows(int file, const int64_t* ids, int64_t count, int64_t base, int64_t width, char* out) {
#if defined(_WIN32)
    return false;
#else
    for (int64_t i = 0; i < count; i++)
        if (pread(file, out + i * width, size_t(width), base + ids[i] * width) != width) return false;
    return true;
#endif
}

}  // namespace breadth
