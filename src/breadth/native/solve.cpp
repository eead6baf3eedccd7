#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "bounds.hpp"
#include "sets.hpp"

namespace breadth {

namespace {

constexpr double UNDECIDED = 0.02;  // least weight of a row in the choice of a diagonal; 1/4 is that of one half in
constexpr int NEED_TRIES = 10'000;     // rows that are tried to meet the needs of groups
constexpr int FEW = 16;             // members up to which all sets of a few rows are gone through
constexpr int PROVE_ROUNDS = 4, MOST_FOR_LARGEST = 260, MOST_FOR_PROOF = 512, OFFERED = 4;

struct Node {
    double bound;
    int64_t number;
    std::vector<int> taken, left;  // positions in the form of the root
    std::vector<double> x;
};

struct LowerBound {
    bool operator()(const Node& a, const Node& b) const {
        return a.bound != b.bound ? a.bound < b.bound : a.number > b.number;
    }
};

class Solver {
  public:
    Solver(const Block& block, const Effort& effort, Clock& clock) : block_(block), effort_(effort), clock_(clock) {
        for (int i = 0; i < block.n; i++)
            if (block.rules.is_locked(i)) locked_.push_back(i);
        parts_ = find_parts(block);
    }

    Result run(const std::vector<std::vector<int>>& starts, const std::vector<double>& x) {
        found_.complete = find_first(starts);
        if (!found_.complete) return std::move(found_);
        bound_first(x);
        bool outside = found_.outside;
        if (effort_.full && (effort_.last || !needs_more(outside)) && is_open()) search_on();
        found_.needs_more = needs_more(outside);
        if (effort_.prove > 0.0 && is_open() && !found_.outside && !block_.by_direction) prove();
        found_.late = clock_.is_over() && is_open();
        Block longer = block_;
        longer.k++;
        found_.can_grow = !find_addable(longer, false).empty();
        return std::move(found_);
    }

  private:
    bool is_open() const { return found_.bound - found_.value > effort_.closed; }
    bool is_trivial() const { return block_.k == 1 && locked_.empty() && !block_.rules.limits_pairs_or_sums(); }
    double open_gap() const { return std::max(found_.bound - found_.value, 0.0) / std::max(effort_.spread, 1e-300); }

    // The rows that may join the set, their cost aside if `at_any_cost`.
    std::vector<int> find_addable(Block block, bool at_any_cost) const {
        if (at_any_cost) block.rules.cost = nullptr;
        Partial set(block);
        for (int row : found_.chosen) set.add(row);
        std::vector<int> rows;
        for (int i = 0; i < block.n; i++)
            if (set.may_add(i)) rows.push_back(i);
        return rows;
    }

    // The first set: the best of those given, or greedy's. False if it has fewer than k rows.
    bool find_first(const std::vector<std::vector<int>>& starts) {
        found_.value = NEVER;
        for (const std::vector<int>& start : starts)
            if (is_complete(start)) offer(start);
        if (!found_.chosen.empty()) return true;
        std::vector<int> picks = pick_greedily(block_, block_.linear, block_.coupling, locked_);
        if (int(picks.size()) == block_.k) {
            if (is_complete(picks)) return offer(picks), true;
        }
        if (block_.rules.least) picks = pick_needed();
        found_.chosen = picks;
        if (int(picks.size()) == block_.k) offer(picks);
        found_.short_of_budget = block_.rules.cost && !picks.empty() && !find_addable(block_, true).empty();
        if (block_.rules.apart && !block_.rules.least && !found_.short_of_budget) pick_loneliest();
        return is_complete(found_.chosen);
    }

    bool is_complete(const std::vector<int>& rows) const {
        Partial set(block_);
        for (int row : rows) set.add(row);
        return set.is_complete();
    }

    // First the rows that groups need, then the others by greed; no rows at all where the needs cannot be met.
    std::vector<int> pick_needed() const {
        Partial set(block_);
        std::vector<int> picks = locked_;
        for (int row : locked_) set.add(row);
        int tries = NEED_TRIES;
        if (!meet_needs(set, picks, tries)) return {};
        return pick_greedily(block_, block_.linear, block_.coupling, picks);
    }

    // Try the rows of the group that has the fewest to offer, one after the other, and go on with the next group.
    bool meet_needs(Partial& set, std::vector<int>& picks, int& tries) const {
        std::vector<int> rows;
        bool needed = false;
        for (int g = 0; g < block_.rules.groups; g++) {
            if (!set.needs(g)) continue;
            std::vector<int> own;
            for (int i = 0; i < block_.n; i++)
                if (block_.rules.group[i] == g && set.may_add(i)) own.push_back(i);
            if (!needed || own.size() < rows.size()) rows = std::move(own);
            needed = true;
        }
        if (!needed) return true;
        std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return block_.linear[a] > block_.linear[b]; });
        for (int row : rows) {
            if (--tries < 0) return false;
            set.add(row);
            picks.push_back(row);
            if (meet_needs(set, picks, tries)) return true;
            set.remove(row);
            picks.pop_back();
        }
        return false;
    }

    // Each time the row that keeps out the fewest of the rows that may still join: more of them fit into one set.
    void pick_loneliest() {
        Partial set(block_);
        std::vector<int> picks = locked_, open;
        for (int row : locked_) set.add(row);
        while (set.size < block_.k && !clock_.is_over()) {
            open.clear();
            for (int i = 0; i < block_.n; i++)
                if (set.may_add(i)) open.push_back(i);
            int best = -1, least = 0;
            for (int i : open) {
                int kept_out = 0;
                for (int j : open) kept_out += block_.rules.apart[int64_t(i) * block_.n + j];
                if (best < 0 || kept_out < least) best = i, least = kept_out;
            }
            if (best < 0) break;
            set.add(best);
            picks.push_back(best);
        }
        if (picks.size() <= found_.chosen.size()) return;
        if (int(picks.size()) == block_.k) offer(picks);
        else found_.chosen = picks;
    }

    // Swap from a set, and keep what is found if it is better.
    void offer(std::vector<int> start) {
        if (int(start.size()) < block_.k) return;
        found_.swaps += swap(block_, start, effort_.least_gain, clock_);
        double value = set_value(block_, start);
        if (value > found_.value) found_.value = value, found_.chosen = std::move(start);
    }

    // Greedy with a first row, every other time at half the relevance: the most relevant rows, and such as are spread
    // over the block.
    void try_starts() {
        std::vector<int> order(block_.n);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return block_.linear[a] > block_.linear[b]; });
        for (int number = 0; number < effort_.starts && !clock_.is_over(); number++) {
            std::vector<double> merits(block_.linear, block_.linear + block_.n);
            if (number % 2)
                for (double& merit : merits) merit *= 0.5;
            bool near = number % 4 < 2;
            int place = near ? std::min(number / 2, block_.n - 1) : int(int64_t(block_.n - 1) * number / effort_.starts);
            merits[order[place]] = 0.5 * ALWAYS;  // picked first, if it may join
            offer(pick_greedily(block_, merits.data(), block_.coupling, locked_));
        }
    }

    std::vector<double> indicate(const std::vector<int>& where) const {
        std::vector<double> x(where.size(), 0.0);
        for (int row : found_.chosen) x[std::lower_bound(where.begin(), where.end(), row) - where.begin()] = 1.0;
        return x;
    }

    Aim aim(double share, bool outside) const {
        return {found_.value, share, effort_.closed, outside && block_.has_supply, block_.supply};
    }

    void bound_first(const std::vector<double>& x) {
        std::vector<int> every(block_.n);
        std::iota(every.begin(), every.end(), 0);
        // Rows that conflict count as dissimilar beside a diagonal, which can make the bound looser.
        Form form = make_form(block_, parts_, every, block_.plain || block_.rules.apart ? Diagonal::none : Diagonal::dominant,
                              std::vector<double>(block_.n, 1.0), clock_);
        double share = effort_.full && block_.plain ? effort_.fine : effort_.rough;
        bool given = int(x.size()) == block_.n && parts_.single && locked_.empty();
        Relaxed relaxed = relax(form, given ? x : indicate(every), aim(share, true), clock_);
        found_.bound = relaxed.bound;
        found_.threshold = relaxed.threshold;
        if (block_.k == 1 && !block_.has_supply && is_trivial()) found_.bound = found_.value;
        if (open_gap() > 1.0 && !some_pair_gains())  // far from converged: relevance alone may say more
            found_.bound = std::min(found_.bound, judge({block_.linear, block_.linear + block_.n}, block_.k, parts_,
                                                        block_.has_supply, block_.supply, nullptr));
        found_.outside = block_.has_supply && relaxed.outside;
        found_.survivors = std::move(relaxed.alive);
        found_.x = std::move(relaxed.x);
        found_.slope = std::move(relaxed.slope);
    }

    bool some_pair_gains() const {
        for (int i = 0; i < block_.n; i++)
            if (*std::min_element(block_.line(i), block_.line(i) + block_.n) < 0.0f) return true;
        return false;
    }

    // Whether rows outside may improve the set by a swap, or raise the bound, unless none can be in a better set.
    bool needs_more(bool outside) const {
        if (!outside || !block_.has_supply) return false;
        Partial set(block_);
        for (int row : found_.chosen) set.add(row);
        for (int row : found_.chosen) {
            double floor = set.merits[row] + block_.coupling * block_.pair(row, row);
            if (floor < block_.supply - effort_.least_gain && !block_.rules.is_locked(row)) return true;
        }
        return judge(found_.slope, block_.k, parts_, true, block_.supply, nullptr) >
               judge(found_.slope, block_.k, parts_, false, NEVER, nullptr);
    }

    // Tighten the bound and search longer for a better set, as long as something is open.
    void search_on() {
        bool outside_at_first = found_.outside;
        try_starts();
        for (int again = 0; again < 2 && is_open() && !clock_.is_over(); again++) {
            if (!block_.by_direction) {
                found_.outside = outside_at_first;
                if (tighten()) return;
            }
            if (again == 1) return;
            double before = found_.value;
            offer(pick_greedily(block_, found_.x.data(), 0.0, locked_));
            int iterations = int(effort_.tabu * std::sqrt(std::min(open_gap(), 1.0)));
            std::vector<int> trial = found_.chosen;
            search_tabu(block_, trial, iterations, effort_.least_gain, clock_);
            offer(trial);
            if (found_.value <= before) return;
        }
    }

    std::vector<int> list_survivors() const {
        std::vector<uint8_t> alive = found_.survivors;
        for (int row : found_.chosen) alive[row] = 1;
        std::vector<int> where;
        for (int i = 0; i < block_.n; i++)
            if (alive[i]) where.push_back(i);
        return where;
    }

    // Bound the rows that can be in a better set with one diagonal after the other, each time leaving some out.
    // Whether the set is proved to be the best.
    bool tighten() {
        std::vector<int> where = list_survivors();
        std::vector<double> x;
        for (int i : where) x.push_back(found_.x[i]);
        for (Diagonal diagonal : {Diagonal::dominant, Diagonal::even, Diagonal::even}) {
            if (!is_open() || int(where.size()) > effort_.tight_rows || clock_.is_over()) break;
            if (diagonal == Diagonal::dominant && block_.plain) continue;
            if (diagonal == Diagonal::even && open_gap() < effort_.eigen) break;
            bound_tighter(where, x, diagonal, aim(effort_.fine, found_.outside));
            if (!is_open() || decide(where)) return true;
        }
        return !is_open() || decide(where);
    }

    Form bound_tighter(std::vector<int>& where, std::vector<double>& x, Diagonal diagonal, const Aim& aim) {
        std::vector<double> weights;
        for (double weight : x) weights.push_back(std::max(weight * (1.0 - weight), UNDECIDED));
        Form form = make_form(block_, parts_, where, diagonal, weights, clock_);
        Relaxed relaxed = relax(form, indicate(where), aim, clock_);
        found_.bound = std::min(found_.bound, std::max(found_.value, relaxed.bound));
        found_.outside = found_.outside && relaxed.outside;
        for (int row : found_.chosen) relaxed.alive[std::lower_bound(where.begin(), where.end(), row) - where.begin()] = 1;
        std::vector<int> kept;
        x.clear();
        for (size_t i = 0; i < where.size(); i++)
            if (relaxed.alive[i]) kept.push_back(where[i]), x.push_back(relaxed.x[i]);
        where = std::move(kept);
        return form;
    }

    // Go through all sets of the rows that are left, where these are few: again only where far fewer are left.
    bool decide(const std::vector<int>& left) {
        if (found_.outside || int(left.size()) > std::min(effort_.decided, tried_ / 2) || block_.k > FEW) return false;
        tried_ = int(left.size());
        std::vector<int> best = found_.chosen;
        found_.decided = go_through(block_, left, best, found_.value, 0.5 * effort_.closed, effort_.looks, clock_);
        found_.chosen = best;
        if (found_.decided) found_.bound = std::min(found_.bound, found_.value + 0.5 * effort_.closed);
        return found_.decided;
    }

    // Bound with ever better diagonals on ever fewer rows, then branch and bound.
    void prove() {
        Clock limit = clock_.within(effort_.prove);
        std::swap(limit, clock_);
        std::vector<int> where = list_survivors();
        std::vector<double> x;
        for (int i : where) x.push_back(found_.x[i]);
        Form form;
        for (int round = 0; round < PROVE_ROUNDS && is_open() && int(where.size()) <= MOST_FOR_PROOF; round++) {
            if (clock_.is_over()) break;
            bool even = round == 0 || int(where.size()) > MOST_FOR_LARGEST;
            Aim fine = aim(effort_.fine, false);
            fine.closed *= 0.1;
            form = bound_tighter(where, x, even ? Diagonal::even : Diagonal::largest, fine);
            std::vector<double> merits(block_.n, -1.0);
            for (size_t i = 0; i < where.size(); i++) merits[where[i]] = x[i];
            offer(pick_greedily(block_, merits.data(), 0.0, locked_));
        }
        if (form.size() && is_open() && !clock_.is_over()) branch(form);
        std::swap(limit, clock_);
        if (limit.was_interrupted()) clock_ = limit;
    }

    void branch(const Form& form) {
        std::priority_queue<Node, std::vector<Node>, LowerBound> open;
        Node root{found_.bound, numbers_++, {}, {}, {}};
        for (int i = 0; i < form.size(); i++) (form.parts.locked[i] ? root.taken : root.left).push_back(i);
        root.left = list_fitting(form, root.taken, root.left);
        root.x.assign(root.left.size(), 0.5);
        open.push(std::move(root));
        while (!open.empty() && open.top().bound > found_.value + 0.1 * effort_.closed && !clock_.is_over()) {
            Node node = open.top();
            open.pop();
            found_.nodes++;
            for (Node& child : split(form, node)) open.push(std::move(child));
        }
        double highest = open.empty() ? found_.value : open.top().bound;
        found_.bound = std::min(found_.bound, std::max(found_.value, highest));
    }

    // Bound a node, leave out what cannot be in a better set, and branch on the row that is most undecided.
    std::vector<Node> split(const Form& form, const Node& node) {
        int missing = block_.k - int(node.taken.size());
        if (missing == 0) offer_rows(form, node.taken);
        if (missing == 0 || int(node.left.size()) < missing) return {};
        Form rest = form.restrict(node.left, node.taken);
        std::vector<double> start = node.x;
        if (!fill_parts(rest, start)) return {};
        Relaxed relaxed = relax(rest, start, {found_.value, effort_.fine, 0.1 * effort_.closed, false, NEVER}, clock_);
        double bound = std::min(node.bound, relaxed.bound);
        if (node.number % OFFERED == 0) offer_relaxed(form, node, relaxed.x);
        if (bound <= found_.value + 0.1 * effort_.closed) return {};
        std::vector<int> left;
        std::vector<double> x;
        for (size_t i = 0; i < node.left.size(); i++)
            if (relaxed.alive[i]) left.push_back(node.left[i]), x.push_back(relaxed.x[i]);
        if (left.empty()) return {};
        size_t place = 0;
        for (size_t i = 1; i < x.size(); i++)
            if (std::fabs(x[i] - 0.5) < std::fabs(x[place] - 0.5)) place = i;
        Node with{bound, numbers_++, node.taken, {}, {}};
        with.taken.push_back(left[place]);
        left.erase(left.begin() + int64_t(place));
        x.erase(x.begin() + int64_t(place));
        with.left = list_fitting(form, with.taken, left);
        for (size_t i = 0, j = 0; i < left.size() && j < with.left.size(); i++)
            if (left[i] == with.left[j]) with.x.push_back(x[i]), j++;
        Node without{bound, numbers_++, node.taken, std::move(left), std::move(x)};
        return {std::move(without), std::move(with)};
    }

    // The rows that may stand beside the rows that are taken.
    std::vector<int> list_fitting(const Form& form, const std::vector<int>& taken, const std::vector<int>& rows) const {
        Partial set(block_);
        for (int row : taken) set.add(form.where[row]);
        std::vector<int> fitting;
        for (int row : rows)
            if (set.may_add(form.where[row])) fitting.push_back(row);
        return fitting;
    }

    void offer_rows(const Form& form, const std::vector<int>& taken) {
        std::vector<int> rows;
        for (int row : taken) rows.push_back(form.where[row]);
        Partial set(block_);
        for (int row : rows) set.add(row);
        if (set.is_complete()) offer(rows);
    }

    void offer_relaxed(const Form& form, const Node& node, const std::vector<double>& x) {
        std::vector<double> merits(block_.n, -1.0);
        for (size_t i = 0; i < node.left.size(); i++) merits[form.where[node.left[i]]] = x[i];
        for (int row : node.taken) merits[form.where[row]] = 2.0;
        std::vector<int> picks = pick_greedily(block_, merits.data(), 0.0, locked_);
        offer(picks);
    }

    const Block& block_;
    const Effort& effort_;
    Clock& clock_;
    Parts parts_;
    std::vector<int> locked_;
    int tried_ = 1 << 30;  // rows whose sets were gone through in vain
    Result found_;
    int64_t numbers_ = 0;
};

}  // namespace

Clock::Clock(double seconds, bool (*interrupted)()) : limited_(seconds < 1e9), ask_(interrupted) {
    auto now = std::chrono::steady_clock::now();
    next_look_ = now + std::chrono::milliseconds(50);
    deadline_ = now + std::chrono::nanoseconds(int64_t(std::max(std::min(seconds, 1e9), 0.0) * 1e9));
}

bool Clock::is_over() {
    if (over_) return true;
    auto now = std::chrono::steady_clock::now();
    if (limited_ && now >= deadline_) return over_ = true;
    if (now < next_look_) return false;
    next_look_ = now + std::chrono::milliseconds(50);
    if (ask_ && ask_()) over_ = interrupted_ = true;
    return over_;
}

Clock Clock::within(double seconds) const {
    Clock part = *this;
    auto sooner = std::chrono::steady_clock::now() + std::chrono::nanoseconds(int64_t(std::min(seconds, 1e9) * 1e9));
    if (!limited_ || sooner < deadline_) part.deadline_ = sooner;
    part.limited_ = true;
    return part;
}

Result solve_block(const Block& block, const Effort& effort, const std::vector<std::vector<int>>& starts,
                   const std::vector<double>& x, Clock& clock) {
    return Solver(block, effort, clock).run(starts, x);
}

}  // namespace breadth
