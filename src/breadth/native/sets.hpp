// Sets of a block: greedy, exchanges of one member, tabu search, and all sets of a few rows.
#pragma once

#include "types.hpp"

namespace breadth {

// A set that changes: its marginal values, and what it leaves of the rules.
//
//   merit_i = linear_i - coupling * sum_{j in S} s_ij
class Partial {
  public:
    explicit Partial(const Block& block);
    void add(int row);
    void remove(int row);
    bool may_add(int row) const;                 // whether the row may join, so that the set can still get k rows
    bool may_exchange(int row, int member) const;
    bool needs(int group) const;                 // whether the group has too few rows
    bool is_complete() const;                    // k rows, and of each group enough

    const Block& block;
    std::vector<double> merits;
    std::vector<uint8_t> inside;
    int size = 0;
    double spent = 0.0;

  private:
    void count(int row, int sign);
    std::vector<int> clashes_, counts_;
    int missing_ = 0;  // rows that groups still need
};

double set_value(const Block& block, const std::vector<int>& chosen);

// Rows picked one after the other: each time the one with the largest merit - coupling * (its pairs) that may join.
// `given` are there already. Fewer than k if no further row may join.
std::vector<int> pick_greedily(const Block& block, const double* merits, double coupling,
                               const std::vector<int>& given);

// Exchange one member for one row, in place, as long as that gains; how many exchanges.
int64_t swap(const Block& block, std::vector<int>& chosen, double least_gain, Clock& clock);

// Make the best exchange again and again, gaining or not; `chosen` becomes the best set met.
void search_tabu(const Block& block, std::vector<int>& chosen, int iterations, double least_gain, Clock& clock);

// Look for a set of the rows `where` that is worth more than `value` by more than `least`; `chosen` becomes the best
// one. Whether every set was decided on.
bool go_through(const Block& block, const std::vector<int>& where, std::vector<int>& chosen, double& value,
                double least, int64_t looks, Clock& clock);

}  // namespace breadth
