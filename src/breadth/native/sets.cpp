#include "sets.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lines.hpp"

namespace breadth {

namespace {

constexpr int NOT_HELD = 0;
constexpr int MOST_SWAPS = 10'000;
constexpr int DENSE = 3;  // one row in so many may gain: then all are looked at, side by side

struct Move {
    double gain = NEVER;
    int row = -1;
    size_t column = 0;
};

// The set of a local search, with the turn until which each row is held.
struct Search {
    Search(const Block& b, const std::vector<int>& chosen) : block(b), set(b), members(chosen), held(b.n, NOT_HELD) {
        for (int row : chosen) set.add(row);
        double longest = 0.0;
        for (int i = 0; i < b.n; i++) longest = std::max(longest, b.pair(i, i));
        longest_ = std::sqrt(longest);
        shut.assign(b.n, 0.0);
        for (int row : chosen) shut[row] = NEVER;
        floors.resize(chosen.size());
    }

    // What a row must be worth to replace each member; the value up to which no row gains by replacing any of them.
    double set_floors() {
        double lowest = ALWAYS;
        for (size_t c = 0; c < members.size(); c++) {
            double own = block.pair(members[c], members[c]);
            floors[c] = set.merits[members[c]] + block.coupling * own;
            if (!block.rules.is_locked(members[c]))
                lowest = std::min(lowest, floors[c] - block.coupling * std::sqrt(own) * longest_);
        }
        return lowest;
    }

    double gain_of(int row, size_t c) const {
        return set.merits[row] + block.coupling * block.pair(members[c], row) - floors[c];
    }

    void exchange(const Move& move) {
        int old = members[move.column];
        set.remove(old);
        set.add(move.row);
        members[move.column] = move.row;
        shut[old] = 0.0;
        shut[move.row] = NEVER;
    }

    const Block& block;
    Partial set;
    std::vector<int> members, held;
    std::vector<double> floors, shut;

  private:
    double longest_;
};

// The exchange that gains most, and more than `least`, where only single members are limited: row by row, of each row
// the best member. Rows that are held at this turn may move all the same if the gain is more than `better`.
Move choose_sparsely(const Search& s, double lowest, int turn, double least, double better) {
    Move best;
    best.gain = least;
    const bool checked = s.block.rules.limits_pairs_or_sums();
    for (int i = 0; i < s.block.n; i++) {
        if (s.set.inside[i] || s.set.merits[i] - lowest <= best.gain) continue;
        for (size_t c = 0; c < s.members.size(); c++) {
            double gain = s.gain_of(i, c);
            if (gain <= best.gain) continue;
            bool held = s.held[i] > turn || s.held[s.members[c]] > turn;
            if ((held && gain <= better) || s.block.rules.is_locked(s.members[c])) continue;
            if (checked && !s.set.may_exchange(i, s.members[c])) continue;
            best = {gain, i, c};
        }
    }
    return best;
}

// The same where any set is allowed and many rows may gain: member by member, whose lines lie in one piece.
Move choose_densely(const Search& s, std::vector<double>& closed, int turn, double least, double better) {
    for (int i = 0; i < s.block.n; i++) closed[i] = s.held[i] > turn ? NEVER : s.shut[i];
    Move best;
    best.gain = least;
    for (size_t c = 0; c < s.members.size(); c++) {
        if (s.block.rules.is_locked(s.members[c])) continue;
        const float* line = s.block.line(s.members[c]);
        Largest found = find_largest_gains(s.set.merits.data(), line, s.block.coupling, s.shut.data(), closed.data(),
                                           s.block.n);
        bool held = s.held[s.members[c]] > turn;
        double any = found.of_all - s.floors[c], free = held ? NEVER : found.of_free - s.floors[c];
        bool aspires = any > better && any > free;
        double gain = aspires ? any : free;
        if (gain <= best.gain) continue;
        const double* mask = aspires ? s.shut.data() : closed.data();
        best = {gain, find_row(s.set.merits.data(), line, s.block.coupling, mask, s.block.n), c};
    }
    return best;
}

Move choose_exchange(Search& s, std::vector<double>& closed, int turn, double least, double better) {
    double lowest = s.set_floors();
    if (s.block.rules.limits_pairs_or_sums()) return choose_sparsely(s, lowest, turn, least, better);
    int leader = -1;
    for (int i = 0; i < s.block.n; i++)
        if (!s.set.inside[i] && s.held[i] <= turn && (leader < 0 || s.set.merits[i] > s.set.merits[leader])) leader = i;
    double bar = least;
    if (leader >= 0)
        for (size_t c = 0; c < s.members.size(); c++)
            if (s.held[s.members[c]] <= turn && !s.block.rules.is_locked(s.members[c]))
                bar = std::max(bar, s.gain_of(leader, c));
    int64_t count = 0;
    for (int i = 0; i < s.block.n; i++) count += s.set.merits[i] - lowest >= bar;
    if (count * DENSE > s.block.n) return choose_densely(s, closed, turn, least, better);
    // The leader's own gain is found again: look for more than a hair less than it.
    return choose_sparsely(s, lowest, turn, bar > least ? bar - 1e-12 * (1.0 + std::fabs(bar)) : least, better);
}

}  // namespace

Partial::Partial(const Block& b) : block(b), merits(b.linear, b.linear + b.n), inside(b.n, 0) {
    if (b.rules.apart) clashes_.assign(b.n, 0);
    if (b.rules.group) counts_.assign(b.rules.groups, 0);
    if (b.rules.least)
        for (int g = 0; g < b.rules.groups; g++) missing_ += b.rules.least[g];
}

void Partial::count(int row, int sign) {
    const Rules& rules = block.rules;
    if (rules.apart)
        for (int i = 0; i < block.n; i++) clashes_[i] += sign * rules.apart[int64_t(row) * block.n + i];
    if (rules.group) {
        int group = rules.group[row];
        if (rules.least && (sign > 0 ? counts_[group] : counts_[group] - 1) < rules.least[group]) missing_ -= sign;
        counts_[group] += sign;
    }
    if (rules.cost) spent += sign * rules.cost[row];
    inside[row] = sign > 0;
    size += sign;
}

void Partial::add(int row) {
    count(row, 1);
    add_line(merits.data(), block.line(row), -block.coupling, block.n);
}

void Partial::remove(int row) {
    count(row, -1);
    add_line(merits.data(), block.line(row), block.coupling, block.n);
}

bool Partial::may_add(int row) const {
    const Rules& rules = block.rules;
    if (size >= block.k || inside[row] || (rules.apart && clashes_[row])) return false;
    if (rules.group) {
        int count = counts_[rules.group[row]];
        if (!rules.in_room(row, count)) return false;
        bool needed = rules.least && count < rules.least[rules.group[row]];
        if (!needed && missing_ >= block.k - size) return false;  // the last places are for groups that need rows
    }
    return !rules.cost || spent + rules.cost[row] <= rules.budget;
}

bool Partial::may_exchange(int row, int member) const {
    const Rules& rules = block.rules;
    if (rules.apart && clashes_[row] != rules.apart[int64_t(member) * block.n + row]) return false;
    if (rules.group) {
        int to = rules.group[row], from = rules.group[member];
        if (to != from) {
            if (!rules.in_room(row, counts_[to])) return false;
            if (rules.least && counts_[from] <= rules.least[from]) return false;
        }
    }
    return !rules.cost || spent - rules.cost[member] + rules.cost[row] <= rules.budget;
}

bool Partial::needs(int group) const { return counts_[group] < block.rules.least[group]; }

bool Partial::is_complete() const { return size == block.k && missing_ <= 0; }

double set_value(const Block& block, const std::vector<int>& chosen) {
    double total = 0.0;
    for (size_t c = 0; c < chosen.size(); c++) {
        double pairs = 0.0;
        for (size_t b = 0; b < c; b++) pairs += block.pair(chosen[c], chosen[b]);
        total += block.linear[chosen[c]] - block.coupling * pairs;
    }
    return total;
}

std::vector<int> pick_greedily(const Block& block, const double* merits, double coupling,
                               const std::vector<int>& given) {
    Block own = block;
    own.linear = merits;
    own.coupling = coupling;
    Partial set(own);
    std::vector<int> picks = given;
    for (int row : given) set.add(row);
    const bool checked = block.rules.limits_pairs_or_sums();
    while (set.size < block.k) {
        int best = -1;
        for (int i = 0; i < block.n; i++)
            if (!set.inside[i] && (best < 0 || set.merits[i] > set.merits[best]) && (!checked || set.may_add(i)))
                best = i;
        if (best < 0) break;
        set.add(best);
        picks.push_back(best);
    }
    return picks;
}

int64_t swap(const Block& block, std::vector<int>& chosen, double least_gain, Clock& clock) {
    Search search(block, chosen);
    std::vector<double> closed(block.n);
    int64_t done = 0;
    while (done < MOST_SWAPS && !(done % 16 == 15 && clock.is_over())) {
        Move move = choose_exchange(search, closed, NOT_HELD, least_gain, ALWAYS);
        if (move.row < 0) break;
        search.exchange(move);
        done++;
    }
    chosen = search.members;
    return done;
}

void search_tabu(const Block& block, std::vector<int>& chosen, int iterations, double least_gain, Clock& clock) {
    Search search(block, chosen);
    std::vector<double> closed(block.n);
    const int inside_for = 1 + std::min(block.k / 2, 5), outside_for = 8;
    double gained = 0.0, best = 0.0;
    for (int turn = 1; turn <= iterations && !clock.is_over(); turn++) {
        Move move = choose_exchange(search, closed, turn, NEVER, best + least_gain - gained);
        if (move.row < 0) continue;
        search.held[search.members[move.column]] = turn + outside_for;
        search.held[move.row] = turn + inside_for;
        search.exchange(move);
        gained += move.gain;
        if (gained > best + least_gain) {
            best = gained;
            chosen = search.members;
        }
    }
}

namespace {

// The sums of the m smallest pairs of each row, for m < k: (k, size).
std::vector<double> sum_smallest(const std::vector<double>& pairs, int size, int k) {
    std::vector<double> out(size_t(k) * size, 0.0), line;
    for (int i = 0; i < size; i++) {
        line.assign(pairs.begin() + int64_t(i) * size, pairs.begin() + int64_t(i + 1) * size);
        line.erase(line.begin() + i);
        int count = std::min(k - 1, size - 1);
        std::partial_sort(line.begin(), line.begin() + count, line.end());
        for (int m = 1; m < k; m++) out[m * size + i] = out[(m - 1) * size + i] + (m <= count ? line[m - 1] : 0.0);
    }
    return out;
}

// One way through all sets: row behind row, with what the rows before leave of merits and rules.
class Walk {
  public:
    Walk(const Block& block, const std::vector<int>& where, int k)
        : block_(block), where_(where), size_(int(where.size())), k_(k), pairs_(size_t(size_) * size_),
          merits_(size_t(k) * size_), worth_(size_t(k) * size_), values_(k, 0.0), spent_(k, 0.0), path_(k),
          next_(k + 1, 0), counts_(std::max(block.rules.groups, 1), 0) {
        for (int i = 0; i < size_; i++)
            for (int j = 0; j < size_; j++) pairs_[i * size_ + j] = block.pair(where[i], where[j]);
        smallest_ = sum_smallest(pairs_, size_, k);
    }

    bool run(std::vector<int>& chosen, double& value, double least, int64_t looks, Clock& clock) {
        for (int i = 0; i < size_; i++) merits_[i] = block_.linear[where_[i]];
        int depth = 0;
        bool entered = true;
        for (int64_t looked = 0, step = 0; depth >= 0; step++) {
            looked += size_ - next_[depth];
            if (looked > looks || (step % 256 == 255 && clock.is_over())) return false;
            int row = -1, m = k_ - depth;
            if (m == 1) {
                look_at_last(depth, chosen, value, least);
            } else if (size_ - next_[depth] >= m) {
                if (entered) rate(depth, m);
                row = find_next(depth, m, value + least - values_[depth]);
            }
            entered = row >= 0;
            if (entered) enter(depth++, row);
            else if (--depth >= 0 && block_.rules.group) counts_[block_.rules.group[where_[path_[depth]]]]--;
        }
        return true;
    }

  private:
    void rate(int depth, int m) {
        for (int i = next_[depth]; i < size_; i++)
            worth_[depth * size_ + i] =
                merits_[depth * size_ + i] - 0.5 * block_.coupling * smallest_[(m - 1) * size_ + i];
    }

    // The first row that can be one of m whose sum is more than `need`; -1 if there is none.
    int find_next(int depth, int m, double need) {
        const double* worth = worth_.data() + depth * size_;
        best_.assign(worth + next_[depth], worth + size_);
        std::nth_element(best_.begin(), best_.begin() + (m - 1), best_.end(), std::greater<>());
        double others = std::accumulate(best_.begin(), best_.begin() + (m - 1), 0.0);
        if (others + best_[m - 1] <= need) return -1;
        for (int row = next_[depth]; row < size_; row++)
            if (worth[row] + others > need && worth[row] > 0.5 * NEVER) return row;
        return -1;
    }

    void enter(int depth, int row) {
        const Rules& rules = block_.rules;
        double *from = merits_.data() + depth * size_, *to = from + size_;
        path_[depth] = row;
        next_[depth] = next_[depth + 1] = row + 1;
        values_[depth + 1] = values_[depth] + from[row];
        int own = where_[row];
        if (rules.group) counts_[rules.group[own]]++;
        spent_[depth + 1] = spent_[depth] + (rules.cost ? rules.cost[own] : 0.0);
        for (int j = row + 1; j < size_; j++) {
            int other = where_[j];
            bool out = from[j] <= 0.5 * NEVER || (rules.apart && rules.apart[int64_t(own) * block_.n + other]);
            out = out || (rules.most && counts_[rules.group[other]] >= rules.most[rules.group[other]]);
            out = out || (rules.cost && spent_[depth + 1] + rules.cost[other] > rules.budget);
            to[j] = out ? NEVER : from[j] - block_.coupling * pairs_[row * size_ + j];
        }
    }

    void look_at_last(int depth, std::vector<int>& chosen, double& value, double least) {
        const double* merits = merits_.data() + depth * size_;
        int best = -1;
        for (int i = next_[depth]; i < size_; i++)
            if (merits[i] > 0.5 * NEVER && (best < 0 || merits[i] > merits[best]) && is_whole(depth, i)) best = i;
        if (best < 0 || values_[depth] + merits[best] <= value + least) return;
        value = values_[depth] + merits[best];
        path_[depth] = best;
        chosen.resize(k_);
        for (int c = 0; c < k_; c++) chosen[c] = where_[path_[c]];
    }

    // Whether the set with this last row has every locked row, and of each group enough.
    bool is_whole(int depth, int last) const {
        const Rules& rules = block_.rules;
        if (rules.least)
            for (int g = 0; g < rules.groups; g++)
                if (counts_[g] + (rules.group[where_[last]] == g) < rules.least[g]) return false;
        if (!rules.locked) return true;
        for (int i = 0; i < size_; i++)
            if (rules.locked[where_[i]] && i != last && std::find(path_.begin(), path_.begin() + depth, i) == path_.begin() + depth)
                return false;
        return true;
    }

    const Block& block_;
    const std::vector<int>& where_;
    int size_, k_;
    std::vector<double> pairs_, smallest_, merits_, worth_, values_, spent_, best_;
    std::vector<int> path_, next_, counts_;
};

}  // namespace

bool go_through(const Block& block, const std::vector<int>& where, std::vector<int>& chosen, double& value,
                double least, int64_t looks, Clock& clock) {
    std::vector<int> order = where;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        if (block.rules.is_locked(a) != block.rules.is_locked(b)) return block.rules.is_locked(a);
        return block.linear[a] > block.linear[b];
    });
    if (int(order.size()) < block.k || block.k < 2) return int(order.size()) < block.k;
    return Walk(block, order, block.k).run(chosen, value, least, looks, clock);
}

}  // namespace breadth
