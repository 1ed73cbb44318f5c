// Slots packed to a few bits, and how many of them agree. Bits are kept as planes: bit j of the slots 0..63 of a row is one
// 64-bit word, and so on. Two rows differ in a slot where the planes differ in any bit: an OR of XORs, whose population count
// is the number of mismatches, for any number of bits.
#include <algorithm>
#include <bit>
#include "hamming.h"

namespace lookalike {

using Parts = Table<const Long>;
using Planes = Table<const Word>;

// What the values of so many slots are mixed with, so that no structure of the hash shows in their bits.
static std::vector<Word> salts_of(Long slots) {
  std::vector<Word> salts(slots);
  for (Long i = 0; i < slots; i++) salts[i] = fmix64(Word(i) + 1);
  return salts;
}

// Writes `bits` planes of up to 64 codes, each so many words from the one before.
static void slice(const Word (&codes)[64], Long bits, Long width, Word* planes) {
  std::uint8_t bytes[64];
  for (Long b = 0; b < bits; b++) {
    if (b % 8) {
      for (std::uint8_t& byte : bytes) byte = std::uint8_t(byte >> 1);
    } else {
      for (int i = 0; i < 64; i++) bytes[i] = std::uint8_t(codes[i] >> b);
    }
    std::uint8_t tops[64];
    for (int i = 0; i < 64; i++) tops[i] = std::uint8_t(bytes[i] << 7);
    planes[b * width] = Block::load(tops).tops();
  }
}

// Packs slots to planes. Parts, one after another, are rows of (slots that are stored, bits of each, slots that are combined
// in each by XOR). With `filled` a last plane tells which slots are not empty, that is of the highest value there is.
template <class T>
static Matrix<Word> pack_planes(Table<const T> slots, Parts parts, bool remix, bool filled) {
  Long words = filled ? width_of(slots.columns()) : 0;
  for (Long p = 0; p < parts.rows(); p++) words += width_of(parts[p][0]) * parts[p][1];
  const std::vector<Word> salts = remix ? salts_of(slots.columns()) : std::vector<Word>();
  Matrix<Word> out(slots.rows(), words);
  for (Long row = 0; row < slots.rows(); row++) {
    const Span<const T> of_row = slots[row];
    Word* to = out[row].begin();
    Long slot = 0;
    for (Long p = 0; p < parts.rows(); p++) {
      const Long stored = parts[p][0], bits = parts[p][1], combined = parts[p][2], width = width_of(stored);
      for (Long first = 0; first < stored; first += 64) {
        Word codes[64] = {};
        const Long some = std::min<Long>(64, stored - first);
        for (Long i = 0; i < some; i++)
          for (Long c = 0; c < combined; c++, slot++) codes[i] ^= remix ? fmix64(of_row[slot] ^ salts[slot]) : of_row[slot];
        slice(codes, bits, width, to++);
      }
      to += width * (bits - 1);
    }
    for (Long first = 0; filled && first < slots.columns(); first += 64) {
      Word plane = 0;
      const Long some = std::min<Long>(64, slots.columns() - first);
      for (Long i = 0; i < some; i++) plane |= Word(of_row[first + i] != T(-1)) << i;
      *to++ = plane;
    }
  }
  return out;
}

// Writes `bits` bits (1, 2, 4 or 8) of each slot, mixed with its place, side by side into words of 16. The lowest bits of a
// word are those of the first of its slots.
static Matrix<std::uint16_t> pack_lanes(Table<const std::uint32_t> slots, Long bits) {
  const Long lanes = 16 / bits;
  const std::vector<Word> salts = salts_of(slots.columns());
  const Word most = (Word(1) << bits) - 1;
  Matrix<std::uint16_t> out(slots.rows(), (slots.columns() + lanes - 1) / lanes);
  std::uint16_t* to = out.begin();
  for (Long row = 0; row < slots.rows(); row++) {
    const Span<const std::uint32_t> of_row = slots[row];
    for (Long first = 0; first < of_row.size(); first += lanes) {
      Word word = 0;
      const Long some = std::min(lanes, of_row.size() - first);
      for (Long i = 0; i < some; i++) word |= (fmix64(of_row[first + i] ^ salts[first + i]) & most) << (i * bits);
      *to++ = std::uint16_t(word);
    }
  }
  return out;
}

// The matching slots of each pair of rows in each part: rows of (first word, slots, bits).
static Matrix<Long> count_matches(Planes left_words, Longs left_rows, Planes right_words, Longs right_rows, Parts parts) {
  Matrix<Long> out(left_rows.size(), parts.rows());
  Long* to = out.begin();
  for (Long pair = 0; pair < left_rows.size(); pair++) {
    const Values left = left_words[left_rows[pair]], right = right_words[right_rows[pair]];
    for (Long p = 0; p < parts.rows(); p++) {
      const Long first = parts[p][0], slots = parts[p][1], bits = parts[p][2], width = width_of(slots);
      const Word *a = left.part(first, width * bits).begin(), *b = right.part(first, width * bits).begin();
      Long same = slots;
      for (Long w = 0; w < width; w++) same -= popcount(differing(a + w, b + w, width, bits));
      *to++ = same;
    }
  }
  return out;
}

// Matches of each pair where some slots are empty: see `compare_filled`.
static Matrix<Long> count_filled(Planes left_words, Longs left_rows, Planes right_words, Longs right_rows, Long slots,
                                 Long bits) {
  Matrix<Long> out(left_rows.size(), 3);
  Long* to = out.begin();
  for (Long pair = 0; pair < left_rows.size(); pair++) {
    const auto [equal, both, one] = compare_filled(left_words[left_rows[pair]], right_words[right_rows[pair]], slots, bits);
    *to++ = equal, *to++ = both, *to++ = one;
  }
  return out;
}

void define_packing(nb::module_& m) {
  define(m, "pack_planes", &pack_planes<std::uint32_t>);
  define(m, "pack_planes", &pack_planes<Word>);
  define(m, "pack_lanes", &pack_lanes);
  define(m, "count_matches", &count_matches);
  define(m, "count_filled", &count_filled);
}

}  // namespace lookalike
