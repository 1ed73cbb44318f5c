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

using Int = std::int64_t;
constexpr Int SIZE_BITS = 8, WIDE = 1 << 7, SIZE = WIDE - 1;

// Returns the smallest different hashes of each row, ascending; if there are fewer, the last one again; without any, 0.
Matrix<Word> sample_rows(Span<const Word> values, Span<const Int> offsets, Word salt, Int width) {
  Matrix<Word> made(offsets.size() - 1, width);
  for (Int row = 0; row + 1 < offsets.size(); row++) {
    Word* const least = made[row].begin();
    Int count = 0;
    for (const Word value : values.part(offsets[row], offsets[row + 1] - offsets[row])) {
      const Word mixed = fmix64(value ^ salt) >> 1;
      if (count == width && mixed >= least[width - 1]) continue;
      Int place = count;
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
void mark_keys(Span<const Int> keys, Span<Word> words) {
  const Filter filter(words, 63);
  for (const Int key : keys) filter.add(Word(key));
}

// Returns a key and a holder for each different shingle of each row that may be looked for: that is in the filter `words`.
//
// Shingles are mixed with the salt to 63 bits, and with the groups, 63 bits that enter the keys of a row; a sample
// has `sample` of a document's, of which the first `wide` are wide; those of orders from `first` on are looked for.
std::pair<Vector<Int>, Vector<Int>> find_holders(Span<const Word> values, Span<const Int> offsets, Span<const Word> groups,
                                                 Span<const Int> orders, Word salt, Int sample, Int wide, Int first,
                                                 Span<const Word> words) {
  const Filter filter(words, 63);
  Vector<Int> keys, holders;
  Vector<Word> hits;
  for (Int row = 0; row + 1 < offsets.size(); row++) {
    hits.clear();
    for (const Word value : values.part(offsets[row], offsets[row + 1] - offsets[row])) {
      const Word mixed = fmix64(value ^ salt) >> 1;
      if (filter.has(mixed ^ groups[row])) hits.push_back(mixed);
    }
    std::sort(hits.begin(), hits.end());
    hits.erase(std::unique(hits.begin(), hits.end()), hits.end());
    const Int size = Int(hits.size());
    const Int sampled = orders[row] >= first ? std::min(size, sample) : 0;  // all of its sample are hits
    for (Int i = 0; i < size; i++) {
      keys.push_back(Int(hits[i] ^ groups[row]));
      const Int mark = (i < sampled ? sampled : 0) | (i < std::min(sampled, wide) ? WIDE : 0);
      holders.push_back(Int(Word(orders[row]) << SIZE_BITS) | mark);
    }
  }
  return {std::move(keys), std::move(holders)};
}

// Most others that hold a shingle, and a wide one, before a document is linked with the first ones alone; how many of the
// references, orders below the boundary, and of the others these are; the boundary; whether later holders count, too.
using CrowdRule = std::tuple<Int, Int, Int, Int, bool>;
using Place = std::tuple<Int, Int, Int>;  // group, member, partner

// Returns a row for each document that looks for a shingle, and each other one that holds it: holders, and orders,
// its own where there are too many. Rows are sorted by key and holder. At most so many come, from a place on; returns
// the next place. All is done when that is the end.
std::tuple<Vector<Int>, Vector<Int>, Place> link_holders(Span<const Int> keys, Span<const Int> holders, const CrowdRule& rule,
                                                         Place at, Int at_most) {
  const auto [most, most_wide, heads, boundary, both] = rule;
  auto [begin, member, partner] = at;
  Vector<Int> looking, held;
  looking.reserve(std::min(at_most, keys.size())), held.reserve(std::min(at_most, keys.size()));
  while (begin < keys.size()) {
    Int end = begin, references = 0;
    while (end < keys.size() && keys[end] == keys[begin]) references += holders[end++] >> SIZE_BITS < boundary;
    const Int size = end - begin, near = std::min(references, heads);
    for (; member < size; member++, partner = 0) {
      const Int one = holders[begin + member];
      if (!(one & SIZE)) continue;
      Int partners = both ? size : member, passed = 0;
      const bool crowded = (both ? size - 1 : member) > (one & WIDE ? most_wide : most);
      if (crowded) {
        partners = near + std::max<Int>(0, std::min(member - references, heads));
        passed = references - near;
      }
      for (; partner < partners + crowded; partner++) {
        if (Int(looking.size()) == at_most) return {std::move(looking), std::move(held), Place{begin, member, partner}};
        const bool own = partner == partners;
        const Int other = own ? member : partner + (partner >= near ? passed : 0);
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
std::tuple<Vector<Int>, Vector<Int>, Vector<Int>, Vector<Int>> count_shared(Span<const Int> looking, Span<const Int> held,
                                                                            Span<const Int> needed) {
  Vector<Int> left, right, sampled, crowded;
  for (auto* column : {&left, &right, &sampled, &crowded}) column->reserve(looking.size());
  for (Int begin = 0, end = 0; begin < looking.size(); begin = end) {
    const Int own = looking[begin] >> SIZE_BITS, size = looking[begin] & SIZE;
    Int nothing = 0;
    for (end = begin; end < looking.size() && looking[end] == looking[begin]; end++) nothing += held[end] == own;
    const Int least = std::max<Int>(1, needed[size] - nothing);
    const auto put = [&](Int other, Int tells_nothing) {
      left.push_back(std::min(own, other));
      right.push_back(std::max(own, other));
      sampled.push_back(size);
      crowded.push_back(tells_nothing);
    };
    if (nothing >= needed[size]) put(own, nothing);
    for (Int run = begin, past = begin; run < end; run = past) {
      while (past < end && held[past] == held[run]) past++;
      if (held[run] != own && past - run >= least) put(held[run], 0);
    }
  }
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
