// Look-up in sorted tables, in files, of keys in ascending order, the row of each, and where each run of keys that begin alike
// starts. A row is found if some table holds a key of it that differs from the query's in at most `radius` bits and begins
// alike: with radius 0 equal band keys, else fingerprints turned so that one block comes first. Or a query says with which
// prefixes such a fingerprint may begin in one table, or in a few, which take turns: its own, and those with weak bits flipped.
#include <nanobind/stl/vector.h>
#include "hamming.h"

namespace lookalike {

using Row = std::uint32_t;

static Word prefix_of(Word key, int bits) { return key >> 1 >> (63 - bits); }

// Where the sorted keys of each prefix start.
static Vector<Row> start_runs(Values keys, int prefix_bits) {
  Vector<Row> out((std::size_t(1) << prefix_bits) + 1);
  std::size_t prefix = 0;
  for (Long i = 0; i < keys.size(); i++)
    for (const Word mine = prefix_of(keys[i], prefix_bits); prefix <= mine; prefix++) out[prefix] = Row(i);
  std::fill(out.begin() + std::ptrdiff_t(prefix), out.end(), Row(keys.size()));
  return out;
}

// The tables of one file, a row each: keys, rows, where runs start; the codes of all rows; which of these are removed, or
// none. The arrays may lie in a file that somebody else wrote: what is read of them is looked at before it is used.
class SegmentTables {
 public:
  template <class T>
  using Stack = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
  using Codes = Held<const std::uint16_t, 2>;
  using Removed = Held<const bool>;

  SegmentTables(Stack<Word> keys, Stack<Row> rows, Stack<Row> starts, Codes codes, Removed removed)
      : keys_(keys),
        rows_(rows),
        starts_(starts),
        codes_(codes),
        removed_(removed),
        prefix_bits(std::bit_width(starts.shape(1) | 1) - 1) {
    const bool fit = rows.shape(0) == keys.shape(0) && starts.shape(0) == keys.shape(0) && rows.shape(1) == keys.shape(1) &&
                     starts.shape(1) == (std::size_t(1) << prefix_bits) + 1 && has_plain_rows(keys) && has_plain_rows(rows) &&
                     has_plain_rows(starts) && (!removed.size() || removed.size() == codes.rows());
    if (!fit) throw nb::value_error("the tables of a segment do not fit together");
  }

  Values keys(Long table) const { return {keys_.data() + table * keys_.stride(0), keys_.shape(1)}; }
  Span<const Row> rows(Long table) const { return {rows_.data() + table * rows_.stride(0), rows_.shape(1)}; }
  Span<const Row> starts(Long table) const { return {starts_.data() + table * starts_.stride(0), starts_.shape(1)}; }
  const std::uint16_t* codes(Row row) const { return codes_.begin() + std::size_t(row) * codes_.columns(); }
  Long n_rows() const { return codes_.rows(); }
  bool is_removed(Row row) const { return removed_.size() && removed_[row]; }

 private:
  template <class T>
  static bool has_plain_rows(const Stack<T>& tables) {
    return tables.stride(1) == 1 || tables.shape(1) < 2;
  }

  Stack<Word> keys_;
  Stack<Row> rows_, starts_;
  Codes codes_;
  Removed removed_;

 public:
  const int prefix_bits;
};

// Queries: keys, codes, which have none, and the distinct prefixes to look at in each table, if any.
struct Queries {
  Table<const Word> keys;
  Table<const std::uint16_t> codes;
  Span<const bool> empty;
  Table<const std::uint32_t> wanted;
};

// How rows are compared with queries: in how many bits keys may differ; the least score of a match; the bits of a code, of
// which it has one a lane; and with 1 or more, a query gets its best matches, that many, with 0 all, with -1 the first only,
// in the first file that has one.
struct Rule {
  int radius;
  Long least;
  int lane;
  Long most;
};

class LookUp {
 public:
  LookUp(const std::vector<const SegmentTables*>& files, Queries asked, Rule rule)
      : files_(files),
        asked_(asked),
        rule_(rule),
        width_(asked.codes.columns()),
        highest_(rule.lane == 16 ? width_ : 0),
        n_tables_(asked.keys.columns()),
        n_runs_(asked.wanted.rows() ? asked.wanted.columns() : n_tables_),
        lowest_(0xFFFF / ((Word(1) << rule.lane) - 1) * 0x0001000100010001),
        runs_(files.size() * AHEAD * n_runs_) {
    for (const SegmentTables* file : files) firsts_.push_back(firsts_.back() + file->n_rows());
  }

  // Looks up all queries. Returns -1, or the number of a file that is damaged.
  Long run() {
    const Long n = asked_.keys.rows();
    for (Long begin = 0; begin < n; begin += AHEAD) {
      const Long end = std::min(n, begin + AHEAD);
      for (std::size_t file = 0; file < files_.size(); file++) fetch_starts(begin, end, file);
      for (std::size_t file = 0; file < files_.size(); file++) fetch_runs(end - begin, file);
      for (Long query = begin; query < end; query++) {
        if (asked_.empty[query]) continue;
        ranked_.clear();
        for (std::size_t file = 0; file < files_.size() && (rule_.most >= 0 || ranked_.empty()); file++)
          if (!near_rows(query, file, runs(file, query - begin)) || !match_rows(query, file)) return Long(file);
        std::sort(ranked_.begin(), ranked_.end());
        if (rule_.most > 0 && rule_.most < Long(ranked_.size())) ranked_.resize(rule_.most);
        for (const Word match : ranked_) {
          const Long number = match & ((Word(1) << ROW_BITS) - 1);
          const auto file = std::upper_bound(firsts_.begin(), firsts_.end(), number) - firsts_.begin() - 1;
          found.insert(found.end(), {query, file, number - firsts_[file], highest_ - Long(match >> ROW_BITS)});
        }
      }
    }
    return -1;
  }

  // Query, file, row and score of each match: of each query the best first, of equal scores by file and row.
  Vector<Long> found;

 private:
  static constexpr Long AHEAD = 8;             // queries whose runs are fetched at once
  static constexpr std::size_t FEW_ROWS = 64;  // that many may wait to be sorted among those of other tables
  static constexpr int ROW_BITS = 46;          // of the number of a row among those of all files: 2^47 bytes have addresses

  struct Run {
    Long begin, end;
  };

  Run* runs(std::size_t file, Long query) { return runs_.data() + (Long(file) * AHEAD + query) * n_runs_; }

  // Notes the prefixes of some queries, and asks for the starts of their runs. A look at a table waits for memory twice; this
  // many at once take hardly longer than one.
  void fetch_starts(Long begin, Long end, std::size_t file) {
    const SegmentTables& tables = *files_[file];
    for (Long query = begin; query < end; query++)
      for (Long i = 0; i < n_runs_; i++) {  // many runs of one table; otherwise a run of each table
        const Long table = i % n_tables_;
        const Word prefix =
            asked_.wanted.rows() ? asked_.wanted[query][i] : prefix_of(asked_.keys[query][table], tables.prefix_bits);
        runs(file, query - begin)[i].begin = Long(prefix);
        __builtin_prefetch(tables.starts(table).begin() + prefix);
      }
  }

  // Finds where the runs of some queries start and end, and asks for their keys, and not for their rows: few runs hold the
  // key of a query.
  void fetch_runs(Long count, std::size_t file) {
    const SegmentTables& tables = *files_[file];
    for (Long query = 0; query < count; query++)
      for (Long i = 0; i < n_runs_; i++) {
        const Span<const Row> starts = tables.starts(i % n_tables_);
        Run& run = runs(file, query)[i];
        run = {starts[run.begin], starts[run.begin + 1]};
        __builtin_prefetch(tables.keys(i % n_tables_).begin() + run.begin);
      }
  }

  // How many codes of a row and a query are equal, or, of codes of fewer than 16 bits, minus how many differ: any of their
  // bits does.
  Long score_of(const std::uint16_t* row, const std::uint16_t* query) const {
    Long score = 0, j = 0;
    if (rule_.lane == 16) {
      constexpr int AT_ONCE = 4 * WORD_LANES;
      typedef std::uint16_t Codes __attribute__((vector_size(2 * AT_ONCE)));
      Codes equal = {};
      for (; j + AT_ONCE <= width_; j += AT_ONCE) {
        Codes a, b;
        std::memcpy(&a, row + j, sizeof a);
        std::memcpy(&b, query + j, sizeof b);
        equal -= Codes(a == b);
      }
      for (int i = 0; i < AT_ONCE; i++) score += equal[i];
      for (; j < width_; j++) score += row[j] == query[j];
      return score;
    }
    for (; j < width_; j += 4) {
      Word a = 0, b = 0;
      const std::size_t bytes = 2 * std::min<Long>(4, width_ - j);
      std::memcpy(&a, row + j, bytes);
      std::memcpy(&b, query + j, bytes);
      Word differ = a ^ b;
      for (int fold = 1; fold < rule_.lane; fold *= 2) differ |= differ >> fold;
      score -= popcount(differ & lowest_);
    }
    return score;
  }

  // The last of the first `most` rows with the query's key in table 0, if the scores of all these are as high as need be, or
  // -1. Rows that are removed do not count. Of many copies a query needs no more.
  Long last_needed(Long query, const SegmentTables& tables, Run run) const {
    const Word key = asked_.keys[query][0];
    const Values keys = tables.keys(0);
    const Span<const Row> rows = tables.rows(0);
    Long left = std::abs(rule_.most), i = run.begin;
    while (i < run.end && keys[i] < key) i++;
    if (i + left >= run.end || keys[i + left] != key) return -1;
    for (; i < run.end && keys[i] == key && rows[i] < tables.n_rows(); i++) {
      if (tables.is_removed(rows[i])) continue;
      if (score_of(tables.codes(rows[i]), asked_.codes[query].begin()) < (rule_.most < 0 ? rule_.least : highest_)) return -1;
      if (!--left) return rows[i];
    }
    return -1;
  }

  // Gathers the rows of a file that a query is compared with, in ascending order; returns whether all runs are in their tables.
  bool near_rows(Long query, std::size_t file, const Run* runs) {
    const SegmentTables& tables = *files_[file];
    std::size_t known = 0;  // of these rows ascend, once each
    Long bound = -1;
    near_.clear();
    for (Long i = 0; i < n_runs_; i++) {
      const Long table = i % n_tables_;
      const Values keys = tables.keys(table);
      const Span<const Row> rows = tables.rows(table);
      const Word key = asked_.keys[query][table];
      const Run run = runs[i];
      if (run.begin > run.end || run.end > keys.size()) return false;
      if (i == 0 && rule_.radius == 0 && rule_.most && std::abs(rule_.most) < run.end - run.begin)
        bound = last_needed(query, tables, run);
      for (Long place = run.begin; place < run.end; place++) {
        if (popcount(keys[place] ^ key) > rule_.radius) continue;
        if (bound >= 0 && rows[place] > bound) break;  // rows of a key ascend
        near_.push_back(rows[place]);
        __builtin_prefetch(tables.codes(rows[place]));
      }
      if (near_.size() - known > FEW_ROWS) known = join_rows(known);
    }
    join_rows(known);
    return true;
  }

  // Sorts the rows from `known` on into those before, once each; returns how many there are then. Copies have the same rows
  // in every table, where they ascend.
  std::size_t join_rows(std::size_t known) {
    const auto middle = near_.begin() + std::ptrdiff_t(known);
    if (!std::is_sorted(middle, near_.end())) std::sort(middle, near_.end());
    near_.erase(std::unique(middle, near_.end()), near_.end());
    if (!known) return near_.size();
    joined_.clear();
    std::set_union(near_.begin(), near_.begin() + std::ptrdiff_t(known), near_.begin() + std::ptrdiff_t(known), near_.end(),
                   std::back_inserter(joined_));
    near_.swap(joined_);
    return near_.size();
  }

  // Ranks the rows gathered that match a query, by numbers that ascend from the best; returns whether all are among the codes.
  bool match_rows(Long query, std::size_t file) {
    const SegmentTables& tables = *files_[file];
    const std::uint16_t* codes = asked_.codes[query].begin();
    for (const Row row : near_) {
      if (row >= tables.n_rows()) return false;
      if (tables.is_removed(row)) continue;
      const Long score = score_of(tables.codes(row), codes);
      if (score < rule_.least) continue;
      ranked_.push_back(Word(highest_ - score) << ROW_BITS | Word(firsts_[file] + row));
      if (rule_.most < 0) break;
    }
    return true;
  }

  const std::vector<const SegmentTables*>& files_;
  const Queries asked_;
  const Rule rule_;
  const Long width_, highest_, n_tables_, n_runs_;  // no score is above the highest
  const Word lowest_;                               // the lowest bits of all lanes
  std::vector<Long> firsts_{0};                     // rows of all files before each
  std::vector<Run> runs_;
  std::vector<Row> near_, joined_;
  std::vector<Word> ranked_;
};

// Looks up queries in files; returns the number of a file that is damaged, or -1, and rows of (query, file, row, score).
static std::pair<Long, Matrix<Long>> look_up(const std::vector<const SegmentTables*>& files, Table<const Word> keys,
                                             Table<const std::uint16_t> codes, Span<const bool> empty,
                                             Table<const std::uint32_t> wanted, int radius, Long least, int lane, Long most) {
  LookUp search(files, {keys, codes, empty, wanted}, {radius, least, lane, most});
  const Long damaged = search.run();
  return {damaged, {std::move(search.found), 4}};
}

void define_lookup(nb::module_& m) {
  nb::class_<SegmentTables>(m, "SegmentTables")
      .def(nb::init<SegmentTables::Stack<Word>, SegmentTables::Stack<Row>, SegmentTables::Stack<Row>, SegmentTables::Codes,
                    SegmentTables::Removed>());
  define(m, "start_runs", &start_runs);
  define(m, "look_up", &look_up);
}

}  // namespace lookalike
