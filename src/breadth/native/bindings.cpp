// Checks and conversions between Python and the functions of this folder; nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <stdexcept>

#include "lines.hpp"
#include "scan.hpp"
#include "sets.hpp"
#include "types.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <typename T> using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using Lines = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;  // each line in one piece
template <typename T> using Maybe = std::optional<T>;

void require(bool good, const char* message) {
    if (!good) throw std::invalid_argument(message);
}

template <typename T> nb::object to_numpy(std::vector<T>&& numbers) {
    auto* kept = new std::vector<T>(std::move(numbers));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

template <typename T> const T* point(const Maybe<Vector<T>>& array, size_t size, const char* message) {
    if (!array) return nullptr;
    require(array->shape(0) == size, message);
    return array->data();
}

// Whether the user pressed Ctrl-C. It is asked without the lock of the interpreter.
bool is_interrupted() {
    nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

// What Python passes stays alive as long as the block.
struct PyBlock {
    Vector<double> linear;
    Lines<const float> gram;
    Maybe<Matrix<uint8_t>> apart;
    Maybe<Vector<int32_t>> group, most, least;
    Maybe<Vector<uint8_t>> locked;
    Maybe<Vector<double>> cost, shift;
    breadth::Block block;
};

PyBlock make_block(Vector<double> linear, Lines<const float> gram, int k, double coupling, Maybe<Matrix<uint8_t>> apart,
                   Maybe<Vector<int32_t>> group, Maybe<Vector<int32_t>> most, Maybe<Vector<int32_t>> least,
                   Maybe<Vector<uint8_t>> locked, Maybe<Vector<double>> cost, double budget,
                   Maybe<Vector<double>> shift, double supply, bool plain, bool by_direction) {
    PyBlock made{linear, gram, apart, group, most, least, locked, cost, shift, {}};
    const size_t n = linear.shape(0);
    breadth::Block& block = made.block;
    require(n >= 1 && n < (size_t(1) << 30), "linear must have at least one entry");
    require(k >= 1, "k must be at least 1");
    require(gram.shape(0) >= n && gram.shape(1) >= n && gram.stride(1) == 1, "gram must hold all pairs, line by line");
    require(!apart || (apart->shape(0) == n && apart->shape(1) == n), "apart must be (rows, rows)");
    block.n = int(n);
    block.stride = gram.stride(0);
    block.linear = made.linear.data();
    block.gram = made.gram.data();
    block.coupling = coupling;
    block.k = k;
    block.rules.apart = made.apart ? made.apart->data() : nullptr;
    block.rules.group = point(made.group, n, "group must have an entry for each row");
    block.rules.groups = made.most ? int(made.most->shape(0)) : 0;
    block.rules.most = made.most ? made.most->data() : nullptr;
    block.rules.least = point(made.least, size_t(block.rules.groups), "least must have an entry for each group");
    block.rules.locked = point(made.locked, n, "locked must have an entry for each row");
    block.rules.cost = point(made.cost, n, "cost must have an entry for each row");
    block.rules.budget = budget;
    block.shift = point(made.shift, n, "shift must have an entry for each row");
    block.has_supply = std::isfinite(supply);
    block.supply = block.has_supply ? supply : breadth::NEVER;
    block.plain = plain;
    block.by_direction = by_direction;
    require(!block.rules.group == !block.rules.most, "group and most belong together");
    for (size_t i = 0; block.rules.group && i < n; i++)
        require(block.rules.group[i] >= 0 && block.rules.group[i] < block.rules.groups, "group: no such group");
    return made;
}

std::vector<int> read_rows_of(const PyBlock& made, const Vector<int64_t>& rows) {
    std::vector<int> out;
    std::vector<uint8_t> seen(made.block.n, 0);
    for (size_t i = 0; i < rows.shape(0); i++) {
        int64_t row = rows.data()[i];
        require(row >= 0 && row < made.block.n && !seen[row], "a set names a row that is not there, or one twice");
        seen[row] = 1;
        out.push_back(int(row));
    }
    return out;
}

breadth::Result solve(const PyBlock& made, const breadth::Effort& effort, const std::vector<Vector<int64_t>>& starts,
                      Maybe<Vector<double>> x, double seconds) {
    std::vector<std::vector<int>> sets;
    for (const auto& start : starts) {
        sets.push_back(read_rows_of(made, start));
        require(int(sets.back().size()) == made.block.k, "a set to start from must have k rows");
    }
    std::vector<double> first;
    if (x) first.assign(x->data(), x->data() + x->shape(0));
    breadth::Clock clock(seconds, is_interrupted);
    breadth::Result result;
    {
        nb::gil_scoped_release free;
        result = breadth::solve_block(made.block, effort, sets, first, clock);
    }
    if (clock.was_interrupted()) throw nb::python_error();
    return result;
}

double bound_at(const PyBlock& made, Vector<double> x, Vector<double> further, double unseen) {
    require(x.shape(0) == size_t(made.block.n), "x must have an entry for each row");
    return breadth::bound_at(made.block, {x.data(), x.data() + x.shape(0)},
                             {further.data(), further.data() + further.shape(0)}, std::isfinite(unseen), unseen);
}

nb::object pick(const PyBlock& made, Vector<double> merits, double coupling, Vector<int64_t> given) {
    require(merits.shape(0) == size_t(made.block.n), "merits must have an entry for each row");
    std::vector<int> picks = breadth::pick_greedily(made.block, merits.data(), coupling, read_rows_of(made, given));
    return to_numpy(std::vector<int64_t>(picks.begin(), picks.end()));
}

template <typename Row, typename Scan>
void scan_rows(Matrix<Row> rows, Maybe<Vector<float>> scales, Matrix<float> directions, Lines<float> out, Scan scan) {
    const size_t n = rows.shape(0), d = rows.shape(1), b = directions.shape(0);
    require(directions.shape(1) == d, "directions must have as many coordinates as rows");
    require(out.shape(0) == b && out.shape(1) == n && (n < 2 || out.stride(1) == 1), "out must be (directions, rows)");
    const float* factors = point(scales, n, "scales must have an entry for each row");
    nb::gil_scoped_release free;
    scan(rows.data(), int64_t(n), int64_t(d), factors, directions.data(), int64_t(b), out.data(), out.stride(0));
}

nb::tuple sift(Vector<float> scores, Vector<float> errors, float length, float rounding, float least) {
    const size_t n = scores.shape(0);
    require(errors.shape(0) == n, "errors must have an entry for each score");
    std::vector<int64_t> positions(n);
    std::vector<float> reaches(n);
    int64_t count = 0;
    {
        nb::gil_scoped_release free;
        count = breadth::sift(scores.data(), errors.data(), int64_t(n), length, rounding, least, positions.data(),
                              reaches.data());
    }
    positions.resize(count), positions.shrink_to_fit();
    reaches.resize(count), reaches.shrink_to_fit();
    return nb::make_tuple(to_numpy(std::move(positions)), to_numpy(std::move(reaches)));
}

void fill_gram(Matrix<float> rows, int64_t old, Lines<float> out) {
    const size_t n = rows.shape(0);
    require(out.shape(0) >= n && out.shape(1) >= n && out.stride(1) == 1, "out must have room for all pairs");
    require(old >= 0 && old <= int64_t(n), "old must be a number of rows");
    nb::gil_scoped_release free;
    breadth::fill_gram(rows.data(), int64_t(n), int64_t(rows.shape(1)), old, out.data(), out.stride(0));
}

nb::object inner_at(Matrix<float> rows, Vector<int64_t> where, Vector<double> direction) {
    require(direction.shape(0) == rows.shape(1), "direction must have as many coordinates as rows");
    std::vector<double> out(where.shape(0));
    for (size_t i = 0; i < out.size(); i++) {
        int64_t row = where.data()[i];
        require(row >= 0 && row < int64_t(rows.shape(0)), "where names a row that is not there");
        out[i] = breadth::multiply_exactly(rows.data() + row * rows.shape(1), direction.data(), rows.shape(1));
    }
    return to_numpy(std::move(out));
}

template <typename T> using Room = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

int64_t gather(Matrix<int8_t> codes, Vector<float> scales, Vector<float> errors, Room<const uint8_t> packed,
               Vector<float> factors, Vector<float> lengths, Vector<float> rounding, Vector<int64_t> keeps,
               int64_t first, Room<float> bars, Room<int64_t> positions, Room<float> scores, Room<int64_t> counts) {
    const size_t together = factors.shape(0), rows = codes.shape(0);
    require(packed.ndim() == 3 && packed.shape(0) * 4 == codes.shape(1) && packed.shape(1) == together, "packed");
    require(scales.shape(0) == rows && errors.shape(0) == rows, "scales and errors must have an entry for each row");
    require(lengths.shape(0) == together && rounding.shape(0) == together && keeps.shape(0) == together, "directions");
    require(bars.size() == together && counts.size() == together && positions.ndim() == 2, "lists");
    require(positions.shape(0) == together && scores.size() == positions.size(), "lists");
    const int most = breadth::count_coded();
    require(most && (together == size_t(most) || together * 2 == size_t(most) || together * 4 == size_t(most)), "room");
    breadth::CodedScan scan{codes.data(), scales.data(), errors.data(), int64_t(rows), int64_t(codes.shape(1)),
                            packed.data(), int64_t(together), factors.data(), lengths.data(), rounding.data(),
                            keeps.data(), bars.data(), positions.data(), scores.data(), counts.data(),
                            int64_t(positions.shape(1))};
    nb::gil_scoped_release free;
    return breadth::gather(scan, first);
}

bool read_rows(int file, Vector<int64_t> ids, int64_t base, Room<nb::ro> out) {
    const int64_t width = int64_t(out.itemsize()) * (out.ndim() == 2 ? int64_t(out.shape(1)) : 1);
    require(out.ndim() == 2 && out.shape(0) == ids.shape(0), "out must have a line for each id");
    nb::gil_scoped_release free;
    return breadth::read_rows(file, ids.data(), int64_t(ids.shape(0)), base, width,
                              static_cast<char*>(const_cast<void*>(static_cast<const void*>(out.data()))));
}

}  // namespace

NB_MODULE(_core, m) {
    using breadth::Effort;
    using breadth::Result;
    nb::class_<Effort>(m, "Effort")
        .def(nb::init<>())
        .def_rw("full", &Effort::full).def_rw("last", &Effort::last).def_rw("starts", &Effort::starts).def_rw("rough", &Effort::rough)
        .def_rw("fine", &Effort::fine).def_rw("tabu", &Effort::tabu).def_rw("tight_rows", &Effort::tight_rows)
        .def_rw("eigen", &Effort::eigen).def_rw("decided", &Effort::decided).def_rw("looks", &Effort::looks)
        .def_rw("prove", &Effort::prove).def_rw("closed", &Effort::closed).def_rw("least_gain", &Effort::least_gain)
        .def_rw("spread", &Effort::spread);
    nb::class_<Result>(m, "Result")
        .def_ro("value", &Result::value).def_ro("bound", &Result::bound).def_ro("threshold", &Result::threshold)
        .def_ro("needs_more", &Result::needs_more)
        .def_ro("outside", &Result::outside).def_ro("short_of_budget", &Result::short_of_budget)
        .def_ro("can_grow", &Result::can_grow).def_ro("complete", &Result::complete).def_ro("decided", &Result::decided).def_ro("late", &Result::late)
        .def_ro("swaps", &Result::swaps).def_ro("nodes", &Result::nodes)
        .def_prop_ro("chosen", [](const Result& r) { return to_numpy(std::vector<int64_t>(r.chosen.begin(), r.chosen.end())); })
        .def_prop_ro("x", [](const Result& r) { return to_numpy(std::vector<double>(r.x)); })
        .def_prop_ro("slope", [](const Result& r) { return to_numpy(std::vector<double>(r.slope)); })
        .def_prop_ro("survivors", [](const Result& r) { return to_numpy(std::vector<uint8_t>(r.survivors)); });
    nb::class_<PyBlock>(m, "Block")
        .def_static("make", &make_block, "linear"_a, "gram"_a, "k"_a, "coupling"_a, "apart"_a = nb::none(),
                    "group"_a = nb::none(), "most"_a = nb::none(), "least"_a = nb::none(), "locked"_a = nb::none(),
                    "cost"_a = nb::none(), "budget"_a = breadth::ALWAYS, "shift"_a = nb::none(),
                    "supply"_a = -INFINITY, "plain"_a = false, "by_direction"_a = false)
        .def("solve", &solve, "effort"_a, "starts"_a, "x"_a = nb::none(), "seconds"_a = 1e9)
        .def("bound_at", &bound_at, "x"_a, "further"_a, "unseen"_a)
        .def("pick", &pick, "merits"_a, "coupling"_a, "given"_a);
    m.def("scan", [](Matrix<int8_t> rows, Maybe<Vector<float>> scales, Matrix<float> directions, Lines<float> out) {
        scan_rows(rows, scales, directions, out, breadth::scan_codes); }, "rows"_a, "scales"_a.none(), "directions"_a, "out"_a);
    m.def("scan", [](Matrix<float> rows, Maybe<Vector<float>> scales, Matrix<float> directions, Lines<float> out) {
        scan_rows(rows, scales, directions, out, breadth::scan_floats); }, "rows"_a, "scales"_a.none(), "directions"_a, "out"_a);
    m.def("scan_halves", [](Matrix<uint16_t> rows, Maybe<Vector<float>> scales, Matrix<float> directions, Lines<float> out) {
        scan_rows(rows, scales, directions, out, breadth::scan_halves); }, "rows"_a, "scales"_a.none(), "directions"_a, "out"_a);
    m.def("sift", &sift, "scores"_a, "errors"_a, "length"_a, "rounding"_a, "least"_a);
    m.def("fill_gram", &fill_gram, "rows"_a, "old"_a, "out"_a);
    m.def("inner_at", &inner_at, "rows"_a, "where"_a, "direction"_a);
    m.def("gather", &gather);
    m.def("read_rows", &read_rows);
    m.attr("CODED") = breadth::count_coded();
}
