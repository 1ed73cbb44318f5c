// Shingles of texts.
#include <array>
#include "arrays.h"
#include "hash.h"
#include "hash_table.h"
#include "text_folder.h"
#include "tokens.h"

namespace lookalike {

// Memory that is new each time costs the system more than the work on it. Yet a single long text should not take its own to the
// end of the job: a thread keeps arrays of so many bytes at most.

template <class T>
static void forget_large(Vector<T>& kept, std::size_t most = KEPT) {
  if (kept.capacity() * sizeof(T) > most) Vector<T>().swap(kept);
}

static Word hash_point(Word point) { return mum(point ^ K0, K1); }

static const auto ASCII_HASHES = [] {
  std::array<Word, 128> hashes;
  for (Word point = 0; point < 128; point++) hashes[point] = hash_point(point);
  return hashes;
}();

// Hashes each code point of valid UTF-8, behind which stand eight bytes; returns how many there are.
static Long hash_points(Bytes folded, Long size, Word* out) {
  Long count = 0;
  for (Bytes at = folded, end = folded + size; at < end;) {
    const Word word = load64(at);
    if (!(word & 0x8080808080808080) && at + 8 <= end) {
      for (int i = 0; i < 8; i++) out[count + i] = ASCII_HASHES[at[i]];
      at += 8, count += 8;
    } else {
      const auto [point, length] = decode(word, end - at);
      out[count++] = hash_point(Word(point));
      at += length;
    }
  }
  return count;
}

namespace {

// Turns texts into the hashes of their tokens.
class Tokenizer {
 public:
  Tokenizer(int unit, bool fold_case, int flags, const Characters& characters, const Forms& forms)
      : unit_(unit), folder_(unit, fold_case, flags, characters, forms) {}

  ~Tokenizer() {
    forget_large(folded_);
    forget_large(tokens_);
  }

  // Returns the tokens of a text, until the next is asked for; up to `limit` may be read.
  Values tokens(Bytes begin, Bytes end, Bytes limit) {
    if (unit_ == BYTES) {
      Word* out = room(end - begin);
      for (Bytes at = begin; at < end; at++) *out++ = mum(Word(*at) ^ K2, K3);
      return {tokens_.data(), std::size_t(end - begin)};
    }
    const Long size = folder_.fold(begin, end, limit, folded_);
    Word* out = room(unit_ == CHARACTERS ? size : size / 2 + 1);
    const char separator = unit_ == LINES ? '\n' : ' ';
    std::memset(folded_.data() + size, separator, 128);
    if (unit_ == CHARACTERS) return {out, std::size_t(hash_points(folded_.data(), size, out))};
    std::size_t n = 0;
    each_token(folded_.data(), size, separator, edges_, [&](Bytes at, Long size) { out[n++] = hash_token(at, size); });
    return {out, n};
  }

  // Whether there were bytes that are no UTF-8; not with bytes as units.
  bool invalid() const { return folder_.invalid; }

 private:
  static Word* room(std::size_t size) {
    if (tokens_.size() < size) {
      tokens_ = {};
      tokens_.resize(size + size / 4);
    }
    return tokens_.data();
  }

  const int unit_;
  TextFolder folder_;
  std::uint32_t edges_[EDGES];
  static inline thread_local Vector<std::uint8_t> folded_;
  static inline thread_local Vector<Word> tokens_;
};

// Rows of shingles, in memory of this thread that is used again once Python does not refer to it any more.
class Shingles {
 public:
  // For so many rows; of that many tokens, perhaps.
  Shingles(Long rows, Long tokens, Long width) : width_(width), values_(used_again(kept_)) {
    values_->reserve(std::min<std::size_t>(tokens, KEPT / sizeof(Word)));
    offsets_.reserve(rows + 1);
    offsets_.push_back(0);
  }
  ~Shingles() {
    if (kept_->capacity() * sizeof(Word) > KEPT) kept_.reset();
  }

  // Adds a row of so many tokens.
  void add(Values tokens) {
    const std::size_t written = values_->size();
    make_room(*values_, tokens.size());
    values_->resize(written + tokens.size());
    values_->resize(written + hash_shingles(tokens.begin(), tokens.size(), width_, values_->data() + written));
    offsets_.push_back(Long(values_->size()));
  }
  Shared<Word> values() { return values_; }
  Vector<Long> offsets() { return std::move(offsets_); }

 private:
  const Long width_;
  Shared<Word> values_;
  Vector<Long> offsets_;
  static inline thread_local Shared<Word> kept_;
};

}  // namespace

// Returns the hashes of the shingles of texts, repeats included, where those of each begin, and whether there were bytes that
// are no UTF-8 (not looked for with bytes as units). `flags` names the normal form and what is hidden.
static std::tuple<Shared<Word>, Vector<Long>, bool> shingle_rows(Data data, Longs offsets, int unit, Long width, bool fold_case,
                                                                 int flags, const Characters& characters, const Forms& forms) {
  Tokenizer tokenizer(unit, fold_case, flags, characters, forms);
  const Long rows = offsets.size() - 1;
  const Long size = offsets[rows] - offsets[0];
  Shingles made(rows, unit == WORDS || unit == LINES ? size / 4 : size, width);
  for (Long row = 0; row < rows; row++)
    made.add(tokenizer.tokens(data.begin() + offsets[row], data.begin() + offsets[row + 1], data.end()));
  return {made.values(), made.offsets(), tokenizer.invalid()};
}

// The same of rows of ready token hashes.
static std::tuple<Shared<Word>, Vector<Long>> roll_rows(Values tokens, Longs offsets, Long width) {
  const Long rows = offsets.size() - 1;
  Shingles made(rows, offsets[rows] - offsets[0], width);
  for (Long row = 0; row < rows; row++) made.add(tokens.part(offsets[row], offsets[row + 1] - offsets[row]));
  return {made.values(), made.offsets()};
}

// Copies texts of several parts together, row rows[i] of part parts[i]; a row below 0 is empty.
static std::pair<Vector<std::uint8_t>, Vector<Long>> gather_rows(const std::vector<Held<const std::uint8_t>>& data,
                                                                 const std::vector<Held<const Long>>& offsets, Longs parts,
                                                                 Longs rows) {
  Vector<Long> begins{0};
  std::vector<Data> texts;
  for (Long i = 0; i < rows.size(); i++) {
    const Long part = parts[i], row = rows[i];
    check(std::size_t(part) < data.size());
    const Long begin = row < 0 ? 0 : offsets[part][row], end = row < 0 ? 0 : offsets[part][row + 1];
    texts.push_back(data[part].part(begin, end - begin));
    begins.push_back(begins[i] + end - begin);
  }
  Vector<std::uint8_t> made(begins.back());
  for (std::size_t i = 0; i < texts.size(); i++) std::copy(texts[i].begin(), texts[i].end(), made.data() + begins[i]);
  return {std::move(made), std::move(begins)};
}

// Copies texts that each follow their length, four bytes, one behind the other into `out`, which may be `data` itself; a row
// that is not `there` has none. Returns how many bytes they took, -1 if the data end before.
static Long unpack_rows(Data data, Longs there, Span<std::uint8_t> out, Span<Long> offsets) {
  Long at = 0, written = 0;
  offsets[0] = 0;
  for (Long row = 0; row < there.size(); row++) {
    if (there[row]) {
      if (at + 4 > data.size()) return -1;
      const Long size = Long(load64(data.begin() + at, data.end()) & 0xFFFFFFFF);
      at += 4;
      if (size > data.size() - at) return -1;
      std::memmove(out.part(written, size).begin(), data.begin() + at, size);
      at += size, written += size;
    }
    offsets[row + 1] = written;
  }
  return at;
}

// Returns rows without repeats, by first appearance. Places in the table are fetched in advance, and no branch, unpredictable
// here, tells whether a value is new.
static std::tuple<Vector<Word>, Vector<Long>> distinct_rows(Values values, Longs offsets) {
  constexpr Long AHEAD = 24;
  static thread_local Vector<Word> table;
  Vector<Word> made(values.size());
  Vector<Long> bounds(offsets.size());
  Long written = 0;
  bounds[0] = 0;
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    const Long begin = offsets[row], end = offsets[row + 1];
    const Word size = std::bit_ceil(Word(std::max<Long>(2 * (end - begin), 2)));
    const Places places{Long(size)};
    if (table.size() < size) table.resize(size);
    std::fill_n(table.begin(), size, 0);
    bool zero = false;  // whether there was one: in the table it is a free place
    for (Long i = begin; i < end; i++) {
      __builtin_prefetch(&table[places(values[std::min(i + AHEAD, end - 1)])]);
      const Word value = values[i];
      Word place = places(value);
      while (table[place] && table[place] != value) place = (place + 1) & (size - 1);
      made[written] = value;
      written += !table[place] && (value || !std::exchange(zero, true));
      table[place] = value;
    }
    bounds[row + 1] = written;
  }
  forget_large(table, KEPT / 6);
  made.resize(written);
  return {std::move(made), std::move(bounds)};
}

void define_shingles(nb::module_& m) {
  define(m, "shingle_rows", &shingle_rows);
  define(m, "roll_rows", &roll_rows);
  define(m, "gather_rows", &gather_rows);
  define(m, "unpack_rows", &unpack_rows);
  define(m, "distinct_rows", &distinct_rows);
}

}  // namespace lookalike
