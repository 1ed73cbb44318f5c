// Documents that have sampled shingles of others: samples by the smallest hashes, who holds them, and how many two share.
//
// A holder is order << SIZE_BITS | WIDE | sampled: a document that holds a shingle, and, if it is one of its own
// sample, the number of shingles in that sample, 0 if it is not. WIDE is there for the first ones of a sample.
#include <algorithm>
#include <bit>
#include <tuple>
#include "arrays.h"
#include "hash.h"
#include "hash_table.h"

namespace lookalike {
namespace {

constexpr Long SIZE_BITS = 8, WIDE = 1 << 7, SIZE = WIDE - 1;

// Returns the smallest different hashes of each row, ascending; if there are fewer, the last one again; without any, 0.
Matrix<Word> sample_rows(Values values, Longs offsets, Word salt, Long width) {
  Matrix<Word> made(offsets.size() - 1, width);
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    Word* const least = made[row].begin();
    Long count = 0;
    for (const Word value : values.part(offsets[row], offsets[row + 1] - offsets[row])) {
      const Word mixed = fmix64(value ^ salt) >> 1;
      if (count == width && mixed >= least[width - 1]) continue;
      Long place = count;
      while (place > 0 && least[place - 1] > mixed) place--;
      if (place > 0 && least[place - 1] == mixed) continue;
      std::copy_backward(least + place, least + std::min(count, width - 1), least + std::min(count, width - 1) + 1);
      least[place] = mixed;
      count = std::min(count + 1, width);
    }
    std::fill(least + count, least + width, count ? least[count - 1] : 0);
  }
  return made;
}

// Adds keys of 63 bits to a filter.
void mark_keys(Longs keys, Span<Word> words) {
  const Filter filter(words, 63);
  for (const Long key : keys) filter.add(Word(key));
}

// Returns a key and a holder for each different shingle of each row that may be looked for: that is in the filter `words`.
//
// Shingles are mixed with the salt to 63 bits, and with the groups, 63 bits that enter the keys of a row; a sample
// has `sample` of a document's, of which the first `wide` are wide; those of orders from `first` on are looked for.
std::pair<Vector<Long>, Vector<Long>> find_holders(Values values, Longs offsets, Values groups, Longs orders, Word salt,
                                                   Long sample, Long wide, Long first, Values words) {
  const Filter filter(words, 63);
  Vector<Long> keys, holders;
  Vector<Word> hits;
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    hits.clear();
    for (const Word value : values.part(offsets[row], offsets[row + 1] - offsets[row])) {
      const Word mixed = fmix64(value ^ salt) >> 1;
      if (filter.has(mixed ^ groups[row])) hits.push_back(mixed);
    }
    std::sort(hits.begin(), hits.end());
    hits.erase(std::unique(hits.begin(), hits.end()), hits.end());
    const Long size = Long(hits.size());
    const Long sampled = orders[row] >= first ? std::min(size, sample) : 0;  // all of its sample are hits
    for (Long i = 0; i < size; i++) {
      keys.push_back(Long(hits[i] ^ groups[row]));
      const Long mark = (i < sampled ? sampled : 0) | (i < std::min(sampled, wide) ? WIDE : 0);
      holders.push_back(Long(Word(orders[row]) << SIZE_BITS) | mark);
    }
  }
  return {std::move(keys), std::move(holders)};
}

// Most others that hold a shingle, and a wide one, before a document is linked with the first ones alone; how many of the
// references, orders below the boundary, and of the others these are; the boundary; whether later holders count, too.
using CrowdRule = std::tuple<Long, Long, Long, Long, bool>;
using Place = std::tuple<Long, Long, Long>;  // group, member, partner

// Returns a row for each document that looks for a shingle, and each other one that holds it: holders, and orders,
// its own where there are too many. Rows are sorted by key and holder. At most so many come, from a place on; returns
// the next place. All is done when that is the end.
std::tuple<Vector<Long>, Vector<Long>, Place> link_holders(Longs keys, Longs holders, const CrowdRule& rule, Place at,
                                                           Long at_most) {
  const auto [most, most_wide, heads, boundary, both] = rule;
  auto [begin, member, partner] = at;
  Vector<Long> looking, held;
  looking.reserve(std::min(at_most, keys.size())), held.reserve(std::min(at_most, keys.size()));
  while (begin < keys.size()) {
    Long end = begin, references = 0;
    while (end < keys.size() && keys[end] == keys[begin]) references += holders[end++] >> SIZE_BITS < boundary;
    const Long size = end - begin, near = std::min(references, heads);
    for (; member < size; member++, partner = 0) {
      const Long one = holders[begin + member];
      if (!(one & SIZE)) continue;
      Long partners = both ? size : member, passed = 0;
      const bool crowded = (both ? size - 1 : member) > (one & WIDE ? most_wide : most);
      if (crowded) {
        partners = near + std::max<Long>(0, std::min(member - references, heads));
        passed = references - near;
      }
      for (; partner < partners + crowded; partner++) {
        if (Long(looking.size()) == at_most) return {std::move(looking), std::move(held), Place{begin, member, partner}};
        const bool own = partner == partners;
        const Long other = own ? member : partner + (partner >= near ? passed : 0);
        if (both && !own && (other == member || (member < references && other < references))) continue;
        looking.push_back(one & ~WIDE);
        held.push_back(holders[begin + other] >> SIZE_BITS);
      }
    }
    begin = end;
    member = 0;
  }
  return {std::move(looking), std::move(held), Place{begin, 0, 0}};
}

// Counts how many shingles of its sample each document shares with each other one; returns the pairs that share
// enough, by the number of shingles in the sample: left, right, and for documents with themselves how many shingles
// are sampled, and how many tell nothing.
//
// All rows of a document come together, in the order of `held`. A shingle of which the document itself is the holder tells
// nothing, so that one less is needed, and one at least. A document where that leaves none makes a pair with itself.
std::tuple<Vector<Long>, Vector<Long>, Vector<Long>, Vector<Long>> count_shared(Longs looking, Longs held, Longs needed) {
  Vector<Long> left, right, sampled, crowded;
  for (auto* column : {&left, &right, &sampled, &crowded}) column->reserve(looking.size());
  for (Long begin = 0, end = 0; begin < looking.size(); begin = end) {
    const Long own = looking[begin] >> SIZE_BITS, size = looking[begin] & SIZE;
    Long nothing = 0;
    for (end = begin; end < looking.size() && looking[end] == looking[begin]; end++) nothing += held[end] == own;
    const Long least = std::max<Long>(1, needed[size] - nothing);
    const auto put = [&](Long other, Long tells_nothing) {
      left.push_back(std::min(own, other));
      right.push_back(std::max(own, other));
      sampled.push_back(size);
      crowded.push_back(tells_nothing);
    };
    if (nothing >= needed[size]) put(own, nothing);
    for (Long run = begin, past = begin; run < end; run = past) {
      while (past < end && held[past] == held[run]) past++;
      if (held[run] != own && past - run >= least) put(held[run], 0);
    }
  }
  for (auto* column : {&left, &right, &sampled, &crowded}) cut_off(*column, column->size());
  return {std::move(left), std::move(right), std::move(sampled), std::move(crowded)};
}

}  // namespace

void define_containment(nb::module_& m) {
  define(m, "sample_rows", &sample_rows);
  define(m, "mark_keys", &mark_keys);
  define(m, "find_holders", &find_holders);
  define(m, "link_holders", &link_holders);
  define(m, "count_shared", &count_shared);
}

}  // namespace lookalike
