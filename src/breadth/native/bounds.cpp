#include "bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "diagonals.hpp"
#include "lines.hpp"

namespace breadth {

namespace {

constexpr int STEPS_BETWEEN_LOOKS = 32, MOST_STEPS = 20'000;
constexpr int PRICES = 12;
constexpr double ROUNDING = 2e-6;  // what float32 pairs change in an eigenvalue, for each row

std::vector<int> sort_by(const std::vector<double>& scores) {
    std::vector<int> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return scores[a] > scores[b]; });
    return order;
}

// The number of a clique for each row, -1 where it is in none of two or more. Cliques are found greedily in the order of
// the rows, so the more relevant ones come first.
int find_cliques(const Block& block, std::vector<int>& clique) {
    const int n = block.n;
    std::vector<uint8_t> fitting(n);
    int cliques = 0;
    clique.assign(n, -1);
    for (int seed = 0; seed < n; seed++) {
        if (clique[seed] >= 0) continue;
        const uint8_t* line = block.rules.apart + int64_t(seed) * n;
        bool any = false;
        for (int i = seed + 1; i < n; i++) {
            fitting[i] = line[i] && clique[i] < 0;
            any = any || fitting[i];
        }
        if (!any) continue;
        clique[seed] = cliques;
        for (int row = seed + 1; row < n; row++) {
            if (!fitting[row]) continue;
            clique[row] = cliques;
            const uint8_t* other = block.rules.apart + int64_t(row) * n;
            for (int i = row + 1; i < n; i++) fitting[i] = fitting[i] && other[i];
        }
        cliques++;
    }
    return cliques;
}

// The sum of the locked scores and of the largest others, k in all, where nothing else is limited.
double sum_largest(const std::vector<double>& scores, int k, const std::vector<uint8_t>& locked) {
    static thread_local std::vector<double> free;
    free.clear();
    double total = 0.0;
    int left = k;
    for (size_t i = 0; i < scores.size(); i++) {
        if (locked[i]) total += scores[i], left--;
        else free.push_back(scores[i]);
    }
    if (left <= 0) return total;
    if (int(free.size()) < left) return NEVER;
    std::nth_element(free.begin(), free.begin() + (left - 1), free.end(), std::greater<>());
    return std::accumulate(free.begin(), free.begin() + left, total);
}

// Where weight may move, and how much: what a relaxation does step by step.
class Climb {
  public:
    Climb(const Form& form, std::vector<double>& x) : form_(form), x_(x), slope(form.linear) {
        for (int i = 0; i < form.size(); i++)
            if (x[i] != 0.0) add_line(slope.data(), form.line(i), -form.coupling * x[i], form.size());
        load_.assign(form.parts.room.size(), 0.0);
        for (int i = 0; i < form.size(); i++) load_[form.parts.part[i]] += x[i];
    }

    // Move weight between the two entries that promise most; whether any step rises.
    bool step() {
        choose();
        if (away_ < 0) return false;
        double amount = move((slope[to_] - slope[away_]) / bend_);
        add_lines(slope.data(), form_.line(to_), form_.line(away_), -form_.coupling * amount, form_.size());
        return true;
    }

  private:
    void choose() {
        const Parts& parts = form_.parts;
        steepest_.assign(parts.room.size(), -1);
        int free = -1;
        for (int i = 0; i < form_.size(); i++) {
            if (x_[i] >= 1.0) continue;
            int p = parts.part[i];
            if (!parts.single && (steepest_[p] < 0 || slope[i] > slope[steepest_[p]])) steepest_[p] = i;
            bool room = parts.single || load_[p] < parts.room[p] - 1e-9;
            if (room && (free < 0 || slope[i] > slope[free])) free = i;
        }
        to_ = away_ = -1;
        promised_ = 0.0;
        for (int j = 0; j < form_.size(); j++) {
            if (x_[j] <= 0.0 || parts.locked[j]) continue;
            int p = parts.part[j];
            if (free >= 0 && (parts.single || p == parts.part[free] || load_[p] > parts.need[p] + 1e-9)) offer(free, j);
            if (!parts.single && steepest_[p] >= 0 && steepest_[p] != free) offer(steepest_[p], j);
        }
    }

    void offer(int to, int away) {
        double rise = slope[to] - slope[away];
        if (rise <= 0.0) return;
        double own = double(form_.line(to)[to]) + double(form_.line(away)[away]);
        double bend = std::max(form_.coupling * (own - 2.0 * double(form_.line(to)[away])), 1e-9);
        if (rise * rise / bend > promised_) promised_ = rise * rise / bend, to_ = to, away_ = away, bend_ = bend;
    }

    double move(double amount) {
        const Parts& parts = form_.parts;
        int p = parts.part[to_], q = parts.part[away_];
        amount = std::min(amount, 1.0 - x_[to_]);
        if (p != q) amount = std::min({amount, parts.room[p] - load_[p], load_[q] - parts.need[q]});
        if (amount >= x_[away_]) amount = x_[away_], x_[away_] = 0.0;
        else x_[away_] -= amount;
        x_[to_] += amount;
        if (x_[to_] > 1.0 - 1e-12) x_[to_] = 1.0;
        load_[p] += amount;
        load_[q] -= amount;
        return amount;
    }

    const Form& form_;
    std::vector<double>& x_;
    std::vector<double> load_;
    std::vector<int> steepest_;
    int to_ = -1, away_ = -1;
    double promised_ = 0.0, bend_ = 1.0;

  public:
    std::vector<double> slope;
};

Relaxed climb(const Form& form, std::vector<double> x, const Aim& aim, Clock& clock) {
    const int n = form.size();
    const double base = aim.best - form.constant;
    Climb walk(form, x);
    for (int step = 0; step < MOST_STEPS; step++) {
        if (step % STEPS_BETWEEN_LOOKS == 0) {
            double along = multiply_lines(walk.slope.data(), x.data(), n);
            double value = 0.5 * (multiply_lines(form.linear.data(), x.data(), n) + along);
            double gap = judge(walk.slope, form.k, form.parts, false, NEVER, nullptr) - along;
            if (gap <= std::max(aim.closed, aim.share * (value - base)) || clock.is_over()) break;
        }
        if (!walk.step()) break;
    }
    Relaxed found;
    Losses losses;
    found.slope = form.linear;  // anew: many steps add up rounding
    for (int i = 0; i < n; i++)
        if (x[i] != 0.0) add_line(found.slope.data(), form.line(i), -form.coupling * x[i], n);
    double most = judge(found.slope, form.k, form.parts, aim.has_supply, aim.supply, &losses);
    double half = 0.5 * (multiply_lines(form.linear.data(), x.data(), n) - multiply_lines(found.slope.data(), x.data(), n));
    found.bound = most <= 0.5 * NEVER ? NEVER : form.constant + half + most;
    found.x = std::move(x);
    found.alive.resize(n);
    double bar = aim.best + 0.01 * aim.closed;
    for (int i = 0; i < n; i++) found.alive[i] = found.bound - losses.of[i] > bar;
    found.outside = found.bound - losses.of[n] > bar;
    found.threshold = losses.weakest;
    return found;
}

Form put_price(const Form& form, double price) {
    Form priced = form;
    for (int i = 0; i < form.size(); i++) priced.linear[i] -= price * form.cost[i];
    priced.constant += price * form.budget;
    return priced;
}

// The price of the budget whose bound is the lowest, by golden section: the bound is convex in the price.
Relaxed search_price(const Form& form, Relaxed lowest, const Aim& aim, Clock& clock) {
    double cheapest = ALWAYS, steepest = 0.0;
    for (double cost : form.cost)
        if (cost > 0.0) cheapest = std::min(cheapest, cost);
    for (double slope : lowest.slope) steepest = std::max(steepest, std::fabs(slope));
    if (cheapest == ALWAYS || multiply_lines(form.cost.data(), lowest.x.data(), form.size()) <= form.budget)
        return lowest;  // it costs nothing to keep the budget
    const std::vector<double> start = lowest.x;
    Aim near = aim;  // a price that is far off need not be known well
    near.closed = std::max(aim.closed, aim.share * (lowest.bound - aim.best));
    double low = 0.0, high = steepest / cheapest;
    for (int number = 0; number < PRICES && high > 0.0 && !clock.is_over(); number++) {
        double prices[2] = {low + 0.382 * (high - low), low + 0.618 * (high - low)}, bounds[2];
        for (int side = 0; side < 2; side++) {
            Relaxed tried = climb(put_price(form, prices[side]), start, near, clock);
            bounds[side] = tried.bound;
            if (tried.bound < lowest.bound) lowest = std::move(tried);
        }
        if (bounds[0] <= bounds[1]) high = prices[1];
        else low = prices[0];
    }
    return lowest;
}

}  // namespace

Parts find_parts(const Block& block) {
    const Rules& rules = block.rules;
    const int n = block.n;
    Parts parts;
    parts.part.assign(n, 0);
    parts.locked.assign(n, 0);
    if (rules.locked) parts.locked.assign(rules.locked, rules.locked + n);
    std::vector<int> clique(n, -1);
    int cliques = rules.apart ? find_cliques(block, clique) : 0;
    int groups = rules.group ? rules.groups : 1;
    parts.room.assign(cliques, 1);
    parts.need.assign(cliques + groups, 0);
    for (int g = 0; g < groups; g++) {
        parts.room.push_back(rules.group && rules.most ? std::min(rules.most[g], block.k + 1) : block.k + 1);
        if (rules.least) parts.need[cliques + g] = rules.least[g];
    }
    for (int i = 0; i < n; i++) {
        int group = cliques + (rules.group ? rules.group[i] : 0);
        parts.part[i] = clique[i] >= 0 ? clique[i] : group;
        if (clique[i] >= 0) parts.need[group] = std::max(0, parts.need[group] - 1);  // it may be met inside the clique
    }
    parts.single = cliques == 0 && !rules.group;
    return parts;
}

double judge(const std::vector<double>& scores, int k, const Parts& parts, bool has_supply, double supply,
             Losses* losses) {
    if (parts.single && !losses && !has_supply) return sum_largest(scores, k, parts.locked);
    const int n = int(scores.size()), count = int(parts.room.size());
    std::vector<int> room = parts.room, need = parts.need;
    std::vector<uint8_t> taken(n, 0);
    double total = 0.0;
    int left = k;
    auto take = [&](int i) {
        total += scores[i];
        taken[i] = 1;
        room[parts.part[i]]--;
        need[parts.part[i]]--;
        left--;
    };
    for (int i = 0; i < n; i++)
        if (parts.locked[i]) take(i);
    const std::vector<int> order = sort_by(scores);
    const double bar = has_supply ? supply : NEVER;
    for (int forced = parts.single ? 0 : 1; forced >= 0; forced--)
        for (int i : order) {
            if (left <= 0 || scores[i] <= bar) break;
            if (!taken[i] && room[parts.part[i]] > 0 && (!forced || need[parts.part[i]] > 0)) take(i);
        }
    if (left > 0) total = has_supply ? total + left * supply : NEVER;
    if (!losses) return total;
    double weakest = left > 0 ? (has_supply ? supply : NEVER) : ALWAYS;
    std::vector<double> weakest_of(count, ALWAYS);
    for (int i = 0; i < n; i++) {
        if (!taken[i] || parts.locked[i]) continue;
        int p = parts.part[i];
        weakest_of[p] = std::min(weakest_of[p], scores[i]);
        if (need[p] < 0 || parts.single) weakest = std::min(weakest, scores[i]);  // its part has more than it needs
    }
    losses->of.assign(n + 1, 0.0);
    losses->weakest = weakest;
    for (int i = 0; i < n; i++) {
        int p = parts.part[i];
        double displaced = room[p] > 0 ? std::min(weakest, weakest_of[p]) : weakest_of[p];
        losses->of[i] = taken[i] ? 0.0 : std::max(displaced - scores[i], 0.0);
    }
    losses->of[n] = has_supply ? std::max(weakest - supply, 0.0) : ALWAYS;
    return total;
}

bool fill_parts(const Form& form, std::vector<double>& x) {
    std::vector<int> room = form.parts.room, need = form.parts.need;
    std::vector<double> start(x.size(), 0.0);
    int left = form.k;
    const std::vector<int> order = sort_by(x);
    for (int pass = 0; pass < 3; pass++)  // locked rows, then what parts need, then the others
        for (int i : order) {
            int p = form.parts.part[i];
            bool wanted = pass == 0 ? form.parts.locked[i] : pass == 1 ? need[p] > 0 : true;
            if (left == 0 || start[i] != 0.0 || !wanted || room[p] <= 0) continue;
            start[i] = 1.0;
            room[p]--;
            need[p]--;
            left--;
        }
    x = start;
    return left == 0;
}

Form Form::restrict(const std::vector<int>& keep, const std::vector<int>& taken) const {
    Form form;
    const int n = int(keep.size());
    form.k = k - int(taken.size());
    form.coupling = coupling;
    form.budget = budget;
    form.constant = constant;
    form.parts.room = parts.room;
    form.parts.need = parts.need;
    form.parts.single = parts.single;
    for (int row : taken) {
        form.constant += linear[row];
        for (int other : taken) form.constant -= 0.5 * coupling * double(line(row)[other]);
        form.parts.room[parts.part[row]]--;
        form.parts.need[parts.part[row]]--;
        if (!cost.empty()) form.budget -= cost[row];
    }
    form.gram.resize(size_t(n) * n);
    for (int i = 0; i < n; i++) {
        const float* own = line(keep[i]);
        double joint = 0.0;
        for (int row : taken) joint += double(own[row]);
        for (int j = 0; j < n; j++) form.gram[int64_t(i) * n + j] = own[keep[j]];
        form.where.push_back(where[keep[i]]);
        form.linear.push_back(linear[keep[i]] - coupling * joint);
        if (!cost.empty()) form.cost.push_back(cost[keep[i]]);
        form.parts.part.push_back(parts.part[keep[i]]);
        form.parts.locked.push_back(parts.locked[keep[i]]);
    }
    return form;
}

Form make_form(const Block& block, const Parts& parts, const std::vector<int>& where, Diagonal diagonal,
               const std::vector<double>& weights, Clock& clock) {
    Form form;
    const int n = int(where.size());
    const bool every = n == block.n;
    form.where = where;
    form.k = block.k;
    form.coupling = block.coupling;
    form.budget = block.rules.cost ? block.rules.budget : ALWAYS;
    form.gram.resize(size_t(n) * n);
    for (int i = 0; i < n; i++) {
        const float* line = block.line(where[i]);
        float* own = form.gram.data() + int64_t(i) * n;
        if (every) std::copy(line, line + n, own);
        else
            for (int j = 0; j < n; j++) own[j] = line[where[j]];
    }
    if (diagonal == Diagonal::none && block.shift) {
        for (int i = 0; i < n; i++) form.gram[int64_t(i) * n + i] -= float(block.shift[where[i]]);
    } else if (diagonal != Diagonal::none) {
        std::vector<double> d = find_diagonal(form.gram, n, weights, diagonal, block, where, clock);
        for (int i = 0; i < n; i++) form.gram[int64_t(i) * n + i] -= float(d[i] - ROUNDING * n);
    }
    for (int i = 0; i < n; i++) {
        form.linear.push_back(block.linear[where[i]] + 0.5 * block.coupling * double(form.gram[int64_t(i) * n + i]));
        if (block.rules.cost) form.cost.push_back(block.rules.cost[where[i]]);
        form.parts.part.push_back(parts.part[where[i]]);
        form.parts.locked.push_back(parts.locked[where[i]]);
    }
    form.parts.room = parts.room;
    form.parts.need = parts.need;
    form.parts.single = parts.single;
    return form;
}

double bound_at(const Block& block, const std::vector<double>& x, const std::vector<double>& further, bool has_unseen,
                double unseen) {
    Clock clock(1e9, nullptr);
    std::vector<int> every(block.n);
    std::iota(every.begin(), every.end(), 0);
    Form form = make_form(block, find_parts(block), every, Diagonal::none, {}, clock);
    std::vector<double> slope = form.linear;
    for (int i = 0; i < block.n; i++)
        if (x[i] != 0.0) add_line(slope.data(), form.line(i), -form.coupling * x[i], block.n);
    double half = 0.0;
    for (int i = 0; i < block.n; i++) half += 0.5 * x[i] * (form.linear[i] - slope[i]);
    Parts& parts = form.parts;
    slope.insert(slope.end(), further.begin(), further.end());
    parts.part.resize(slope.size(), int(parts.room.size()));
    parts.locked.resize(slope.size(), 0);
    parts.room.push_back(block.k + 1);
    parts.need.push_back(0);
    if (!further.empty() || has_unseen)  // they may be of any group
        std::fill(parts.need.begin(), parts.need.end(), 0);
    parts.single = parts.single && further.empty();
    return half + judge(slope, block.k, parts, has_unseen, unseen, nullptr);
}

Relaxed relax(const Form& form, std::vector<double> x, const Aim& aim, Clock& clock) {
    Relaxed found = climb(form, std::move(x), aim, clock);
    if (form.cost.empty()) return found;
    return search_price(form, std::move(found), aim, clock);
}

}  // namespace breadth
