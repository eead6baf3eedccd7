// What the block solver works on: a few hundred rows in memory, and which sets of them are allowed.
//
//   F(S) = sum linear_i - coupling/2 * sum_{i != j in S} s_ij           |S| = k
//
// Every array belongs to the caller unless it is a vector. No number here is infinite: a flag says what is not there.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace breadth {

constexpr double NEVER = -1e300;  // a score that nothing can have
constexpr double ALWAYS = 1e300;

// Says when the time is up. It looks at the clock, and from time to time asks whether the user pressed Ctrl-C.
class Clock {
  public:
    Clock(double seconds, bool (*interrupted)());
    bool is_over();
    bool was_interrupted() const { return interrupted_; }
    Clock within(double seconds) const;  // a clock for a part of the work

  private:
    using Time = std::chrono::steady_clock::time_point;
    Time deadline_, next_look_;
    bool limited_, over_ = false, interrupted_ = false;
    bool (*ask_)();
};

// Which sets are allowed. A null pointer means that there is no such rule.
struct Rules {
    const uint8_t* apart = nullptr;   // (n, n): 1 where two rows may not be in one set
    const int32_t* group = nullptr;   // the group of each row
    const int32_t* most = nullptr;    // of each group at most so many
    const int32_t* least = nullptr;   // of each group at least so many
    const uint8_t* locked = nullptr;  // rows that are in every set
    const double* cost = nullptr;
    int groups = 0;
    double budget = ALWAYS;

    bool limits_pairs_or_sums() const { return apart || group || cost; }
    bool is_locked(int row) const { return locked && locked[row]; }
    bool in_room(int row, int count) const { return !most || count < most[group[row]]; }
};

struct Block {
    int n = 0;                  // rows
    int64_t stride = 0;         // numbers between two lines of `gram`
    const double* linear = nullptr;
    const float* gram = nullptr;  // s_ij, with s_ii
    double coupling = 0.0;
    int k = 0;
    Rules rules;
    const double* shift = nullptr;  // a diagonal d with s - diag(d) positive semidefinite; null where s is so itself
    bool has_supply = false;    // whether rows outside the block may be in a set
    double supply = NEVER;      // what such a row is worth at the most
    bool plain = false;         // sharpness 1: only the diagonal 0 is both cheap and good
    bool by_direction = false;  // rows outside are priced by a direction: the bound is then about the block alone

    const float* line(int row) const { return gram + row * stride; }
    double pair(int one, int other) const { return line(one)[other]; }
};

// How far to go. Gaps are on the scale of F; `spread` is the unit of open gaps.
struct Effort {
    bool full = true;         // whether to search on after the first set and the first bound
    bool last = false;        // whether to do so even if rows outside matter: there will be no others
    int starts = 4;           // greedy sets to start from
    double rough = 0.1;       // duality gap of the first relaxation, as a share of what is open
    double fine = 0.003;      // the same for the later ones
    int tabu = 500;           // iterations for an open gap of 1; otherwise times its root
    int tight_rows = 128;     // most rows for which the bound is tightened
    double eigen = 0.01;      // open gap from which on it is tightened by an eigenvalue
    int decided = 64;         // most rows for which all sets are gone through
    int64_t looks = 32768;    // looks at a row after which that is given up
    double prove = 0.0;       // seconds for branch and bound
    double closed = 0.0;      // a gap that counts as closed
    double least_gain = 0.0;  // what a swap must gain
    double spread = 1.0;
};

struct Result {
    std::vector<int> chosen;         // fewer than k rows where no further row may join
    double value = 0.0;              // F of the set
    double bound = ALWAYS;           // no set of the block, and of rows outside worth `supply`, has a larger F
    bool outside = false;            // whether rows outside can be in a better set, as far as `bound` tells
    bool needs_more = false;         // whether rows outside may improve the set by a swap, or raise the bound
    bool short_of_budget = false;    // a further row could join if it were not for its cost
    bool can_grow = false;           // a further row may join the set
    bool complete = false;           // whether the set has k rows, and of each group enough
    bool decided = false;            // whether the set was proved to be the best
    bool late = false;               // whether the time was up before the work was done
    std::vector<double> x, slope;    // the first relaxation, and its slopes
    double threshold = NEVER;        // the slope that a further row must exceed to raise that relaxation
    std::vector<uint8_t> survivors;  // rows that can be in a better set, as far as that relaxation tells
    int64_t swaps = 0, nodes = 0;
};

// A bound on F at any x, whatever it is: over the rows of the block, further rows with these slopes, and rows outside
// with slopes of at most `unseen`.
double bound_at(const Block& block, const std::vector<double>& x, const std::vector<double>& further, bool has_unseen,
                double unseen);

Result solve_block(const Block& block, const Effort& effort, const std::vector<std::vector<int>>& starts,
                   const std::vector<double>& x, Clock& clock);

}  // namespace breadth
