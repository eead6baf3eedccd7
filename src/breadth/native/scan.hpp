// Scan the rows of a collection, and read some of them.
#pragma once

#include <cstdint>

namespace breadth {

// out[b * stride + i] = scales[i] * rows[i] . directions[b], to float32 precision. `scales` may be null.
void scan_codes(const int8_t* rows, int64_t n, int64_t d, const float* scales, const float* directions, int64_t count,
                float* out, int64_t stride);
void scan_floats(const float* rows, int64_t n, int64_t d, const float* scales, const float* directions, int64_t count,
                 float* out, int64_t stride);
void scan_halves(const uint16_t* rows, int64_t n, int64_t d, const float* scales, const float* directions,
                 int64_t count, float* out, int64_t stride);

// Positions with score + reach >= least, and their reach = length * error + rounding; how many.
int64_t sift(const float* scores, const float* errors, int64_t n, float length, float rounding, float least,
             int64_t* positions, float* reaches);

// out[i * stride + j] = rows[i] . rows[j] for the rows from `old` on with all rows before them and each other.
void fill_gram(const float* rows, int64_t n, int64_t d, int64_t old, float* out, int64_t stride);

// Directions that `gather` scans for in one pass: 64 or 32; 0 where the processor has no instruction for it.
int count_coded();

// Codes scanned for many directions that are coded as well, as bytes that stand for themselves less 128.
struct CodedScan {
    const int8_t* codes;
    const float *scales, *errors;  // of the rows
    int64_t rows, width;
    const uint8_t* packed;         // (width / 4, together, 4)
    int64_t together;
    const float *factors, *lengths, *rounding;
    const int64_t* keeps;
    float* bars;                   // what score + length * error must reach, for each direction; may rise
    int64_t* positions;            // (together, most)
    float* scores;                 // (together, most)
    int64_t* counts;
    int64_t most;
};

// List, for each direction b, the rows from `first` on with score + lengths[b] * errors[i] >= bars[b]. A score is
// certain to lengths[b] * errors[i] + rounding[b]: a list that is nearly full may lose the rows that cannot be among
// the keeps[b] best, and its bar then rises. It ends before a list could overflow; the row to go on with.
int64_t gather(CodedScan& scan, int64_t first);

// Read rows of a file that begin at byte `base` one after the other into `out`; whether all of them were there.
bool read_rows(int file, const int64_t* ids, int64_t count, int64_t base, int64_t width, char* out);

}  // namespace breadth
