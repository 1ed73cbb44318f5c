// What can be repeated in texts: lines, paragraphs, windows of words, blocks of these; and where tokens are.
#include <bit>
#include <cstring>
#include "digest.h"
#include "scan.h"

namespace lookalike {
namespace {

// Which keys come twice, perhaps: counted by a table of two bits, a power of two above 1 long. A word of the table is 32 cells:
// those of the lower half were met, those of the upper half met again. A key has two cells of one word. A key that comes twice
// is always found; one that comes once, rarely. By a table without words all do.
template <class Of>
class KeyCounts {
 public:
  explicit KeyCounts(Span<Of> table) : table_(table), shift_(64 - std::countr_zero(Word(table.size()))) {}

  // Calls `see(i, hash)` for each of n keys; what it looks at is fetched in advance.
  template <class Key, class See>
  void each(Long n, Key key, See see) const {
    constexpr Long AHEAD = 32;
    Word hashes[AHEAD];
    const auto fetch = [&](Long i) {
      hashes[i % AHEAD] = fmix64(key(i));
      if (table_.size()) __builtin_prefetch(table_.begin() + (hashes[i % AHEAD] >> shift_));
    };
    for (Long i = 0; i < std::min(n, AHEAD); i++) fetch(i);
    for (Long i = 0; i < n; i++) {
      see(i, hashes[i % AHEAD]);
      if (i + AHEAD < n) fetch(i + AHEAD);
    }
  }
  void add(Word hash) const {
    Word& met = table_[hash >> shift_];
    met |= cells(hash) | (met & cells(hash)) << 32;
  }
  bool twice(Word hash) const { return !table_.size() || (cells(hash) << 32 & ~table_[hash >> shift_]) == 0; }

 private:
  static Word cells(Word hash) { return Word(1) << (hash & 31) | Word(1) << (hash >> 5 & 31); }

  Span<Of> table_;
  int shift_;
};

void count_keys(Values keys, Span<Word> table) {
  const KeyCounts counts(table);
  counts.each(keys.size(), [&](auto i) { return keys[i]; }, [&](auto, Word hash) { counts.add(hash); });
}

// Sets the bits of some numbers, from the lowest bit of a byte on.
void mark_numbers(Longs numbers, Span<std::uint8_t> bits) {
  for (const Long number : numbers) bits[number >> 3] |= std::uint8_t(1 << (number & 7));
}

// A unit: its keys (0: it is known to be removed), where it begins and ends in the bytes of its
// text, its number there, or that of its first word, and how many numbers it takes.
struct Unit {
  Word key, second;
  Long begin, end, number, size;
};

// Units of rows, six numbers each, and where those of rows begin.
struct RepeatsFound {
  Matrix<Long> units{0, 6};
  Vector<Long> bounds{0};

  void add(const Unit& unit) {
    const Long numbers[] = {Long(unit.key), Long(unit.second), unit.begin, unit.end, unit.number, unit.size};
    units.elements.insert(units.elements.end(), numbers, numbers + 6);
  }
  // Keeps of a row's units those that may come twice.
  void sift(const KeyCounts<const Word>& counts) {
    const Long begin = 6 * bounds.back(), end = Long(units.elements.size());
    const Span<Long> row = Span<Long>(units.elements).part(begin, end - begin);
    Long kept = 0;
    counts.each(
        row.size() / 6, [&](auto i) { return Word(row[6 * i]); },
        [&](auto i, Word hash) {
          if (!counts.twice(hash)) return;
          if (kept < 6 * i) std::copy_n(row.begin() + 6 * i, 6, row.begin() + kept);
          kept += 6;
        });
    units.elements.resize(begin + kept);
  }
  void end_row() { bounds.push_back(Long(units.elements.size()) / 6); }
};

// Counts words up to so many.
struct WordCounter {
  Long most, count = 0;

  void open(Bytes, int n) { count += n; }
  void close(Bytes) {}
  bool skip(int n) { return count += n, true; }
  bool done() const { return count >= most; }
};

// White space of ASCII within a line.
inline bool is_blank(std::uint8_t byte) { return byte == 32 || byte == 9 || (byte >= 11 && byte <= 13); }

// Calls for each line of a text with where it begins, where what is after it begins, and its
// content: without white space at both ends.
template <class See>
void each_line(Data text, See see) {
  for (Bytes at = text.begin(), next; at < text.end(); at = next) {
    const auto* feed = static_cast<Bytes>(std::memchr(at, 10, text.end() - at));
    Bytes left = at, right = feed ? feed : text.end();
    next = feed ? feed + 1 : text.end();
    while (left < right && is_blank(*left)) left++;
    while (left < right && is_blank(right[-1])) right--;
    see(at - text.begin(), next - text.begin(), left, right);
  }
}

// Finds the lines of at least so many words, or the paragraphs: runs of lines that are not blank; blank lines behind a
// paragraph belong to it. Only those are returned whose keys may come twice, digests of the bytes without white space at both
// ends. Returns units, where those of rows begin, and how many lines or paragraphs of each row have a word.
std::tuple<Matrix<Long>, Vector<Long>, Vector<Long>> find_lines(Data data, Longs offsets, Long least, bool paragraphs,
                                                                const Characters& characters, Values secret, Values table) {
  RepeatsFound found;
  Vector<Long> worded;
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    const Data text = data.part(offsets[row], offsets[row + 1] - offsets[row]);
    Long some = 0;
    const auto add = [&](Unit unit, Bytes left, Bytes right) {
      WordCounter words{least};
      scan_words(left, right, data.end(), characters, words);
      some += words.count > 0;
      if (words.count < least) return;
      const Pair value = digest(left, right - left, secret.begin());
      unit.key = reduced(value.a);
      unit.second = reduced(value.b);
      found.add(unit);
    };
    Unit unit{0, 0, 0, 0, -1, 1};  // a paragraph, if its end is not 0
    Bytes start = nullptr, stop = nullptr;
    bool inside = false;  // the line before is not blank
    each_line(text, [&](Long begin, Long end, Bytes left, Bytes right) {
      const bool blank = left == right;
      if (!paragraphs) {
        unit.number++;
        if (!blank) add({0, 0, begin, end, unit.number, 1}, left, right);
        return;
      }
      if (!blank && !inside) {
        if (unit.end) add(unit, start, stop);
        unit = {0, 0, begin, end, unit.number + 1, 1};
        start = left;
      }
      if (unit.end) unit.end = end;
      if (!blank) stop = right;
      inside = !blank;
    });
    if (unit.end) add(unit, start, stop);
    found.sift(KeyCounts(table));
    found.end_row();
    worded.push_back(some);
  }
  cut_off(found.units.elements, found.units.elements.size());
  return {std::move(found.units), std::move(found.bounds), std::move(worded)};
}

// Hashes the windows of so many tokens, by their keys; there are none where tokens are fewer.
void hash_windows(Table<const Word> tokens, Long begin, Long end, Long length, Values secret, Vector<Word>& out) {
  out.resize(std::max<Long>(0, end - begin - length + 1));
  if (out.size()) hash_keys({tokens.begin() + 2 * begin, std::size_t(2 * (end - begin))}, length, secret, out);
}

// Whether a block begins with a window; one begins with each row, too. Texts that are equal are cut in equal places.
inline bool begins_block(Word key) { return (key & 31) == 0; }

// Hashes blocks of windows: values of two polynomials, whose coefficients are the two keys of
// windows. Returns keys, and where those of rows begin.
std::tuple<Matrix<Word>, Vector<Long>> hash_blocks(Table<const Word> tokens, Longs offsets, Long length, Values first,
                                                   Values second, Values points) {
  Matrix<Word> keys(0, 2);
  Vector<Long> bounds{0};
  Vector<Word> one, two;
  Pair value{1, 1};
  const auto end_block = [&] {
    keys.elements.push_back(reduced(value.a));
    keys.elements.push_back(reduced(value.b));
    value = {1, 1};
  };
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    hash_windows(tokens, offsets[row], offsets[row + 1], length, first, one);
    hash_windows(tokens, offsets[row], offsets[row + 1], length, second, two);
    for (std::size_t i = 0; i < one.size(); i++) {
      if (i && begins_block(one[i])) end_block();
      value = {folded(times(value.a, points[0]) + folded(one[i])), folded(times(value.b, points[1]) + folded(two[i]))};
    }
    if (one.size()) end_block();
    bounds.push_back(Long(keys.elements.size()) / 2);
  }
  return {std::move(keys), std::move(bounds)};
}

// Tells which windows of a row are in marked blocks; `start`, the number of the row's first block,
// becomes that of what follows. Of a file that has changed meanwhile there may be more blocks than bits.
void find_marked(Values keys, Data bits, Long& start, Vector<std::uint8_t>& marked) {
  marked.resize(keys.size());
  for (Long i = 0; i < keys.size(); i++) {
    start += i && begins_block(keys[i]);
    marked[i] = start >> 3 < bits.size() && bits[start >> 3] >> (start & 7) & 1;
  }
  start += keys.size() > 0;
}

// Returns the first keys of windows that are in no marked block. `starts`: see `find_marked`.
Vector<Word> unmarked_keys(Table<const Word> tokens, Longs offsets, Long length, Values first, Span<Long> starts, Data bits) {
  Vector<Word> found, keys;
  Vector<std::uint8_t> marked;
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    hash_windows(tokens, offsets[row], offsets[row + 1], length, first, keys);
    find_marked(keys, bits, starts[row], marked);
    for (std::size_t i = 0; i < keys.size(); i++)
      if (!marked[i]) found.push_back(keys[i]);
  }
  return found;
}

// Finds the windows that are in no marked block and may come twice, and runs of those that are in
// marked ones. Returns units, whose bytes are not known yet, and where those of rows begin.
std::tuple<Matrix<Long>, Vector<Long>> find_windows(Table<const Word> tokens, Longs offsets, Long length, Values first,
                                                    Values second, Span<Long> starts, Data bits, Values table) {
  RepeatsFound found;
  Vector<Word> keys, others;
  Vector<std::uint8_t> marked;
  std::vector<Unit> units;
  const KeyCounts counts(table);
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    hash_windows(tokens, offsets[row], offsets[row + 1], length, first, keys);
    find_marked(keys, bits, starts[row], marked);
    units.clear();
    bool some = false;
    counts.each(
        keys.size(), [&](auto i) { return keys[i]; },
        [&](auto i, Word hash) {
          if (marked[i] && i && marked[i - 1]) units.back().size++;
          else if (marked[i]) units.push_back({0, 0, 0, 0, i, length});
          else if (counts.twice(hash)) units.push_back({keys[i], 0, 0, 0, i, length}), some = true;
        });
    if (some) hash_windows(tokens, offsets[row], offsets[row + 1], length, second, others);
    for (Unit& unit : units) {
      if (!marked[unit.number]) unit.second = others[unit.number];
      found.add(unit);
    }
    found.end_row();
  }
  return {std::move(found.units), std::move(found.bounds)};
}

// Finds tokens by their numbers.
class TokenFinder {
 public:
  struct Wanted {
    Long number;
    bool begins;  // where it begins is asked for, not where it ends
    Long* place;
  };

  TokenFinder(Bytes text, const std::vector<Wanted>& wanted) : text_(text), at_(wanted.data()), stop_(at_ + wanted.size()) {}
  void open(Bytes at, int n) {
    begin_ = at - text_;
    count_ += n;
  }
  void close(Bytes at) {
    for (; at_ < stop_ && at_->number < count_; at_++) *at_->place = at_->begins ? begin_ : at - text_;
  }
  bool skip(int n) {
    if (at_ < stop_ && at_->number < count_ + n) return false;
    count_ += n;
    return true;
  }
  bool done() const { return at_ == stop_; }

 private:
  Bytes text_;
  const Wanted *at_, *stop_;
  Long count_ = 0, begin_ = 0;
};

// Returns where runs of tokens begin and end in their texts. `bounds`: where the runs of each text
// begin; `first`, `last`: their first and last tokens, numbered from 0 in their text.
std::tuple<Vector<Long>, Vector<Long>> find_tokens(Data data, Longs offsets, Longs bounds, int unit, bool fold_case,
                                                   const Characters& characters, Longs first, Longs last) {
  Vector<Long> begins(first.size()), ends(first.size());
  std::vector<TokenFinder::Wanted> wanted;
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    wanted.clear();
    for (Long i = bounds[row]; i < bounds[row + 1]; i++) {
      wanted.push_back({first[i], true, &begins[i]});
      wanted.push_back({last[i], false, &ends[i]});
    }
    std::sort(wanted.begin(), wanted.end(), [](const auto& one, const auto& other) { return one.number < other.number; });
    const Bytes at = data.begin() + offsets[row], end = data.begin() + offsets[row + 1];
    TokenFinder finder(at, wanted);
    if (unit == WORDS) scan_words(at, end, data.end(), characters, finder);
    else if (unit == CHARACTERS) scan_characters(at, end, data.end(), characters, fold_case, finder);
    else if (unit == LINES) scan_lines(at, end, data.end(), characters, finder);
    else
      for (Bytes byte = at; byte < end; byte++) finder.open(byte, 1), finder.close(byte + 1);
  }
  return {std::move(begins), std::move(ends)};
}

// Cuts a text where its normal form is that of both sides, beside each character that the form of `flag` may change; returns
// where pieces begin. A piece is such a character, with those that are combined with it, or a run of others. Conjoining vowels
// and finals of Hangul are combined with what precedes them, and so is what `flag` hides.
Vector<Long> cut_pieces(Data data, const Characters& characters, int flag) {
  Vector<Long> begins;
  Long previous = 0;  // where a piece could begin last
  bool changes = true;
  for (Long at = 0, length; at < data.size(); at += length) {
    const Decoded found = decode(load64(data.begin() + at, data.end()), data.size() - at);
    length = found.length;
    const int properties = found.point < 0x80 ? 0 : characters.kind_and_flags(found.point);
    const bool marked = properties & flag, hidden = properties & flag & (HIDDEN | HIDDEN_SPACE);
    const bool combines = marked && (hidden || (properties & KIND) == MARK || (found.point >= 0x1161 && found.point <= 0x11C2));
    const bool starts = properties >> 8 == 0 && !combines;
    if (!at || (starts && (marked || changes))) begins.push_back(at);
    else if (!starts && !changes && previous > begins.back()) begins.push_back(previous);
    changes = marked || !starts;
    if (starts) previous = at;
  }
  return begins;
}

}  // namespace

void define_units(nb::module_& m) {
  define(m, "count_keys", &count_keys);
  define(m, "mark_numbers", &mark_numbers);
  define(m, "find_lines", &find_lines);
  define(m, "hash_blocks", &hash_blocks);
  define(m, "unmarked_keys", &unmarked_keys);
  define(m, "find_windows", &find_windows);
  define(m, "find_tokens", &find_tokens);
  define(m, "cut_pieces", &cut_pieces);
}

}  // namespace lookalike
