// Diagonals D with S - D positive semidefinite: the larger D, the tighter the bound.
#pragma once

#include "bounds.hpp"

namespace breadth {

// A diagonal for the pairs (n, n) of some rows of a block. Pairs that may not be in one set may be changed, in place.
std::vector<double> find_diagonal(std::vector<float>& pairs, int n, const std::vector<double>& weights,
                                  Diagonal diagonal, const Block& block, const std::vector<int>& where, Clock& clock);

// Turn the lower triangle of a symmetric matrix into its Cholesky factor; false if it is not positive definite.
bool factorise(std::vector<double>& matrix, int n);

}  // namespace breadth
