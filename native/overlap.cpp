// Shingles of passages that are known beforehand in documents: where they are, which passages these make up, and what of a
// document that is. A *hit* is a shingle of a document that a passage has: its number, and the token that it begins with; hits
// of a row ascend.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include "arrays.h"
#include "digest.h"
#include "hash_table.h"

namespace lookalike {

using Ints = Span<const std::int32_t>;

// A table of values, 0: free, their numbers, and the factor by which it is looked up, in any process.
using Index = std::tuple<Values, Ints, Word>;

static Word not_zero(Word value) { return value ? value : K0; }

constexpr Long VALUES_AHEAD = 24;  // those whose places in a table are fetched meanwhile

// Numbers values by first appearance: (table of the values, the number of each value, how many are distinct).
static std::tuple<std::tuple<Vector<Word>, Vector<std::int32_t>, Word>, Vector<std::int32_t>, Long> index_values(
    Values values) {
  const Long n = values.size();
  Vector<Word> table(std::max<Word>(16, std::bit_ceil(Word(2 * n + 1))), 0);
  Vector<std::int32_t> numbers(table.size()), out(n);
  const Word factor = spread();
  const Places places(table.size(), factor);
  std::int32_t count = 0;
  for (Long i = 0; i < n; i++) {
    __builtin_prefetch(table.data() + places(values[std::min(i + VALUES_AHEAD, n - 1)]), 1);
    const Word value = not_zero(values[i]);
    const Long place = places.find(table, value);
    if (!table[place]) {
      table[place] = value;
      numbers[place] = count++;
    }
    out[i] = numbers[place];
  }
  return {{std::move(table), std::move(numbers), factor}, std::move(out), count};
}

// The places and the numbers of those values that are in a table.
static std::tuple<Vector<Long>, Vector<std::int32_t>> find_values(Values values, Index index) {
  const auto [table, numbers, factor] = index;
  const Long n = values.size();
  const Places places(table.size(), factor);
  Vector<Long> found(n);
  Vector<std::int32_t> out(n);
  Long count = 0;
  for (Long i = 0; i < n; i++) {
    __builtin_prefetch(table.begin() + places(values[std::min(i + VALUES_AHEAD, n - 1)]));
    const Long place = places.find(table, not_zero(values[i]));
    if (!table[place]) continue;
    found[count] = i;
    out[count++] = numbers[place];
  }
  cut_off(found, count);
  cut_off(out, count);
  return {std::move(found), std::move(out)};
}

// Inverts passages, of which each has so many of the numbers, below `distinct`: where the list of each number begins, the
// passages in these lists, where the distinct numbers of each passage begin, and these, in the order of their first appearance.
static std::tuple<Vector<Long>, Vector<std::int32_t>, Vector<Long>, Vector<std::int32_t>> invert_passages(Ints numbers,
                                                                                                          Longs lengths,
                                                                                                          Long distinct) {
  Vector<Long> offsets(distinct + 1, 0), bounds(lengths.size() + 1, 0);
  Vector<std::int32_t> last(distinct, -1), members;
  Long i = 0;
  for (Long passage = 0; passage < lengths.size(); passage++) {
    for (const Long end = i + lengths[passage]; i < end; i++) {
      if (std::exchange(last[numbers[i]], passage) == passage) continue;
      offsets[numbers[i] + 1]++;
      members.push_back(numbers[i]);
    }
    bounds[passage + 1] = members.size();
  }
  for (Long number = 0; number < distinct; number++) offsets[number + 1] += offsets[number];
  Vector<Long> ends(offsets.begin(), offsets.end() - 1);
  Vector<std::int32_t> lists(members.size());
  for (Long passage = 0; passage < lengths.size(); passage++)
    for (i = bounds[passage]; i < bounds[passage + 1]; i++) lists[ends[members[i]]++] = passage;
  return {std::move(offsets), std::move(lists), std::move(bounds), std::move(members)};
}

// ------------------------------------------------------------------------------------- short texts

using Keys = Table<const Word>;  // of tokens, two words each

static Word value_of(Values key, Values secret) { return token_value({key[0], key[1]}, secret.begin()); }

// What two tokens that a short text begins with are known by, from their values.
static Word beginning(Word first, Word second) { return (first * 0xFF51AFD7ED558CCD + second) * 0xC4CEB9FE1A85EC53; }

// What the texts of rows of token keys begin with: two tokens, or without `pairs` one; 0 where there are fewer.
static Vector<Word> begin_texts(Keys keys, Longs offsets, Values secret, bool pairs) {
  Vector<Word> out(offsets.size() - 1, 0);
  for (std::size_t row = 0; row < out.size(); row++) {
    const Long at = offsets[row];
    if (offsets[row + 1] - at <= pairs) continue;
    out[row] = beginning(value_of(keys[at], secret), pairs ? value_of(keys[at + 1], secret) : 0);
  }
  return out;
}

// A filter of values.
static Vector<Word> fill_filter(Values values) {
  Vector<Word> out(std::size_t(1) << std::max<int>(6, std::bit_width(Word(values.size()) / 4)), 0);
  const Filter<Word> filter(out);
  for (const Word value : values) filter.add(value);
  return out;
}

// Where in rows of token keys a short text may be, and the hash that it has, for each of some numbers of tokens, ascending.
// `known`: a filter of what these texts begin with.
static std::tuple<Vector<Long>, Vector<Word>> hash_short(Keys keys, Longs offsets, Values secret, Longs lengths, bool pairs,
                                                         Values known) {
  static thread_local Vector<Word> tokens;
  std::tuple<Vector<Long>, Vector<Word>> found;
  const Filter filter(known);
  const Word step = secret[2];
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    const Long begin = offsets[row], size = offsets[row + 1] - begin;
    tokens.resize(size + 1);
    for (Long i = 0; i < size; i++) tokens[i] = value_of(keys[begin + i], secret);
    tokens[size] = 0;
    for (Long i = 0; i + lengths[0] <= size; i++) {
      if (!filter.has(beginning(tokens[i], pairs ? tokens[i + 1] : 0))) continue;
      Word leading = 1, state = 0;
      Long done = 0;
      for (const Long length : lengths) {
        if (i + length > size) break;
        for (; done < length; done++) {
          leading = folded(times(leading, step));
          state = folded(times(state, step) + tokens[i + done]);
        }
        std::get<0>(found).push_back(begin + i);
        std::get<1>(found).push_back(fmix64(reduced(folded(state + reduced(leading))) ^ secret[3]));
      }
    }
  }
  if (Long(tokens.capacity() * sizeof(Word)) > KEPT) tokens = {};
  return found;
}

// ----------------------------------------------------------------------------------------- matches

// Numbers that are zeros at first. Memory is touched only where something is written: few of many passages have a hit.
template <class T>
class Zeros {
 public:
  explicit Zeros(Long size) : held_(static_cast<T*>(std::calloc(std::max<Long>(size, 1), sizeof(T)))), size_(size) {
    if (!held_) throw std::bad_alloc();
  }
  T& operator[](std::size_t i) const { return check(i < size_), held_.get()[i]; }

 private:
  struct Free {
    void operator()(void* held) const { std::free(held); }
  };
  std::unique_ptr<T, Free> held_;
  std::size_t size_;
};

// An inverted list: the passages of value i are `lists[offsets[i]:offsets[i + 1]]`, gone through up to `scanned[i]`; those
// after that match no row by such values alone. Passage i has the distinct values `members[bounds[i]:bounds[i +
// 1]]`, of which `hidden[i]` are in lists that are not gone through for it.
using Lists = std::tuple<Longs, Ints, Longs, Longs, Longs, Ints>;

// Matches rows of hits, those of row i from `bounds[i]` on: (rows, passages, common values); which hits a matching passage has;
// and which are the first of their number in a row, but in no passage that matches by `covers` common values or more, if that
// is not 0. A pair matches when the common values, divided by those of the passage, reach the threshold.
static std::tuple<Vector<Long>, Vector<Long>, Vector<Long>, Vector<std::uint8_t>, Vector<std::uint8_t>> match_passages(
    Longs bounds, Ints found, Lists passages, double threshold, Long covers) {
  const auto [offsets, lists, scanned, hidden, starts, members] = passages;
  Vector<Long> out_rows, out_passages, out_common;
  Vector<std::uint8_t> needed(found.size()), outside(found.size());
  Zeros<std::int32_t> common(hidden.size());
  Zeros<Long> seen(scanned.size());
  Vector<std::int32_t> touched;
  for (Long row = 0; row + 1 < bounds.size(); row++) {
    const Long base = 3 * row, begin = bounds[row], end = bounds[row + 1];
    Long later = 0;  // numbers some of whose passages are not gone through
    touched.clear();
    for (Long i = begin; i < end; i++) {
      const std::int32_t number = found[i];
      outside[i] = seen[number] <= base;
      if (!outside[i]) continue;
      seen[number] = base + 1;
      later += scanned[number] < offsets[number + 1];
      for (Long j = offsets[number]; j < scanned[number]; j++)
        if (!common[lists[j]]++) touched.push_back(lists[j]);
    }
    for (const std::int32_t passage : touched) {
      const Ints own = members.part(starts[passage], starts[passage + 1] - starts[passage]);
      const double size = double(own.size());
      Long both = std::exchange(common[passage], 0);
      if (hidden[passage] && later) {
        if (double(both + std::min(hidden[passage], later)) < threshold * size * (1.0 - 1e-12)) continue;
        both = std::count_if(own.begin(), own.end(), [&](std::int32_t number) { return seen[number] > base; });
      }
      if (!(double(both) / size >= threshold)) continue;
      out_rows.push_back(row);
      out_passages.push_back(passage);
      out_common.push_back(both);
      const Long mark = base + (0 < covers && covers <= both ? 3 : 2);
      for (const std::int32_t number : own) {
        Long& state = seen[number];
        if (base < state && state < mark) state = mark;
      }
    }
    for (Long i = begin; i < end; i++) {
      needed[i] = seen[found[i]] > base + 1;
      outside[i] &= seen[found[i]] < base + 3;
    }
  }
  return {std::move(out_rows), std::move(out_passages), std::move(out_common), std::move(needed), std::move(outside)};
}

// Hits of documents: number, token that it begins with, bytes of the text.
using ShingleHits = std::tuple<Longs, Longs, Longs, Longs>;

// Judges matches by their values that are not `commonplace`, and finds the pieces of the text that they are.
//
// Row i has the hits from `bounds[i]` on, and matches the passages `chosen` from `match_bounds[i]` on. A match stands if the
// threshold is reached by values that are not commonplace. Its hits make pieces: two of them are one piece if they begin at
// most `near` tokens apart. Pieces of commonplace hits alone do not count. Returned are, for each match, begin and end of its
// longest piece (-1: it does not stand) and how many of all its values were found; and for each hit how many pieces begin
// there, less those that end there, and the end of what the hit adds to one, or 0.
static std::tuple<Matrix<Long>, Matrix<Long>> judge_matches(Longs bounds, ShingleHits hits, Longs match_bounds, Longs chosen,
                                                            Lists passages, Span<const bool> commonplace, double threshold,
                                                            Long near) {
  const auto [numbers, tokens, begins, ends] = hits;
  const Longs starts = std::get<4>(passages);
  const Ints members = std::get<5>(passages);
  Matrix<Long> out(chosen.size(), 3), pieces(Vector<Long>(2 * numbers.size(), 0), 2);
  const Span<Long> found(out.elements), parts(pieces.elements);
  // One above the first hit of each number, and above the next hit of the same number; of another row it is at most the base.
  Zeros<Long> firsts(commonplace.size());
  Vector<Long> others(numbers.size()), own;  // the hits of a match
  Vector<Word> marked;                       // bits of these
  for (Long row = 0; row + 1 < bounds.size(); row++) {
    const Long base = bounds[row];
    for (Long i = bounds[row + 1]; i-- > base;) others[i] = std::exchange(firsts[numbers[i]], i + 1);
    marked.resize((bounds[row + 1] - base + 63) / 64, 0);
    for (Long match = match_bounds[row]; match < match_bounds[row + 1]; match++) {
      const Ints passage = members.part(starts[chosen[match]], starts[chosen[match] + 1] - starts[chosen[match]]);
      Long rare = 0, both = 0, rare_both = 0;
      for (const std::int32_t number : passage) {
        const bool common = commonplace[number], there = firsts[number] > base;
        rare += !common;
        both += there;
        rare_both += there && !common;
      }
      Long *const from = &found[3 * match], *const to = &found[3 * match + 1];
      *from = *to = -1;
      found[3 * match + 2] = both;
      if (!rare_both || double(rare_both) / double(rare) < threshold) continue;
      Long least = marked.size(), most = 0;
      for (const std::int32_t number : passage)
        for (Long hit = firsts[number]; hit > base; hit = others[hit - 1]) {
          const Long place = hit - 1 - base, word = place / 64;
          marked[word] |= Word(1) << place % 64;
          least = std::min(least, word);
          most = std::max(most, word);
        }
      own.clear();
      for (Long word = least; word <= most; word++)
        for (Word bits = std::exchange(marked[word], 0); bits; bits &= bits - 1)
          own.push_back(base + 64 * word + std::countr_zero(bits));
      Long longest = -1;
      for (auto next = own.begin(); next != own.end();) {
        const auto begin = next;
        const Long first = *begin;
        Long last = first, end = 0;
        bool counts = false;
        for (; next != own.end() && tokens[*next] - tokens[last] <= near; next++) {
          last = *next;
          end = std::max(end, ends[last]);
          counts |= !commonplace[numbers[last]];
        }
        if (!counts) continue;
        parts[2 * first]++;
        parts[2 * last]--;
        std::for_each(begin, next, [&](Long hit) { parts[2 * hit + 1] = ends[hit]; });
        if (end - begins[first] > longest) {
          longest = end - begins[first];
          *from = begins[first];
          *to = end;
        }
      }
    }
  }
  return {std::move(out), std::move(pieces)};
}

void define_overlap(nb::module_& m) {
  define(m, "index_values", &index_values);
  define(m, "find_values", &find_values);
  define(m, "invert_passages", &invert_passages);
  define(m, "begin_texts", &begin_texts);
  define(m, "fill_filter", &fill_filter);
  define(m, "hash_short", &hash_short);
  define(m, "match_passages", &match_passages);
  define(m, "judge_matches", &judge_matches);
}

}  // namespace lookalike
