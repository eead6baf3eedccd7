// Upper bounds on F over all allowed sets of a block, and of the rows outside it.
//
// On sets x_i^2 = x_i, so any diagonal D may be moved out of the quadratic form:
//
//   F(x) = sum (linear_i + coupling/2 * (s_ii - d_i)) x_i - coupling/2 * x'(S - D)x
//
// Where S - D is positive semidefinite this is concave, and its maximum over relaxed allowed sets bounds F. What two
// rows that may not be in one set have in common never counts: it may be any number that leaves a better diagonal.
//
// Rows outside the block are worth at most `supply` each. A budget enters with a price p >= 0: for any p the scores
// less p * cost, plus p * budget, bound F.
#pragma once

#include "types.hpp"

namespace breadth {

// A relaxation of the rules: of each part at most `room` rows and at least `need`, and every locked row.
struct Parts {
    std::vector<int> part, room, need;
    std::vector<uint8_t> locked;
    bool single = true;  // one part, which limits nothing
};

// Rows that all conflict with each other are a part with room for one; the groups of the other rows are parts.
Parts find_parts(const Block& block);

// constant + linear'x - coupling/2 * x'Gx, over the rows `where` of a block; G = S - D.
struct Form {
    std::vector<int> where;
    std::vector<double> linear, cost;
    std::vector<float> gram;
    Parts parts;
    int k = 0;
    double coupling = 0.0, budget = ALWAYS, constant = 0.0;

    int size() const { return int(where.size()); }
    const float* line(int row) const { return gram.data() + int64_t(row) * size(); }
    // The form over some of its rows, for sets that also hold the rows `taken`.
    Form restrict(const std::vector<int>& keep, const std::vector<int>& taken) const;
};

// Each diagonal is tighter and dearer than the one before.
enum class Diagonal {
    none,      // D = 0
    dominant,  // S - D is diagonally dominant after a scaling, and after a matrix of rank one
    even,      // the smallest eigenvalue of S, for each row
    largest,   // the largest weighted sum of entries, by an interior point method
};

// The form over some rows. `weights` say where the diagonal should be large: where x is undecided.
Form make_form(const Block& block, const Parts& parts, const std::vector<int>& where, Diagonal diagonal,
               const std::vector<double>& weights, Clock& clock);

// How far to go: to a share of what is open above the value `best` of a set; `closed` counts as nothing.
struct Aim {
    double best, share, closed;
    bool has_supply;
    double supply;
};

struct Relaxed {
    double bound = ALWAYS;
    std::vector<double> x, slope;
    std::vector<uint8_t> alive;  // which rows can be in a better set
    bool outside = false;        // whether rows outside the block can
    double threshold = NEVER;    // the weakest slope of the best relaxed set that another part may displace
};

// Bound F over all sets of the form, from x on; with a budget at the best price.
Relaxed relax(const Form& form, std::vector<double> x, const Aim& aim, Clock& clock);

// The largest sum of scores of k rows that respect the parts, and what it loses at least when one row must be chosen;
// the last entry: a row outside. A sum of NEVER: there are not enough rows.
struct Losses {
    std::vector<double> of;
    double weakest = ALWAYS;  // the weakest score that a row of a part with room displaces
};

double judge(const std::vector<double>& scores, int k, const Parts& parts, bool has_supply, double supply,
             Losses* losses);

// A relaxed set near x: the rows with the largest x while their part has room. Whether there are enough.
bool fill_parts(const Form& form, std::vector<double>& x);

}  // namespace breadth
