// Signatures: fast similarity sketching (Dahlgaard, Knudsen & Thorup, FOCS 2017).
#pragma once
#include <algorithm>
#include <vector>
#include "hash.h"
#include "lanes.h"

namespace lookalike {

constexpr std::uint32_t NONE = 0xFFFFFFFF, LATER = 0x80000000;

// Makes k slots of the mixed 32-bit hashes of a text's shingles. A slot is a number that orders as (round, value): round 0 has
// the lower half of the range, the later rounds, which only short texts reach, share the upper half evenly.
class Signer32 {
 public:
  Signer32(int k, Word seed) : k_(k), share_(LATER / (2 * k)), salts_(2 * k + LANES) {
    for (int turn = 0; turn < 2 * k; turn++) salts_[turn] = std::uint32_t(fmix64(seed + turn * GOLDEN) >> 32);
  }

  // `values` has room for LANES more, which are overwritten.
  void sign(std::uint32_t* values, std::int64_t n, std::uint32_t* slots) {
    std::fill_n(slots, k_, NONE);
    if (!n) return;
    first_round(values, n, slots);
    missing_ = 0;
    bits_.assign((k_ + 63) / 64, 0);
    for (int i = 0; i < k_; i++)
      if (slots[i] == NONE) missing_++, bits_[i >> 6] |= Word(1) << (i & 63);
    if (!missing_) return;
    if (n > 4 * k_) {  // it repeats itself
      distinct_.assign(values, values + n);
      std::sort(distinct_.begin(), distinct_.end());
      n = std::unique(distinct_.begin(), distinct_.end()) - distinct_.begin();
      distinct_.resize(n + LANES);
      values = distinct_.data();
    }
    later_rounds(values, n, slots);
  }

 private:
  void first_round(const std::uint32_t* values, std::int64_t n, std::uint32_t* slots) {
    const Word k = k_;
    std::int64_t i = 0;
    const std::int64_t few = std::min<std::int64_t>(n, 16 * k_);
    for (; i < few; i++) put(slots, values[i] * k);
    while (i < n) {  // of the others only those below the largest slot matter
      const std::uint32_t most = *std::max_element(slots, slots + k_);
      const std::int64_t end = std::min(n, i + std::max<std::int64_t>(16 * k_, i));
      if (most == NONE) {
        for (; i < end; i++) put(slots, values[i] * k);
        continue;
      }
      const Lanes limit = all(most);
      for (; i + LANES <= end; i += LANES) {
        const Lanes key = load(values + i) * std::uint32_t(k) >> 1;
        for (std::uint32_t low = bits_of(key <= limit); low; low &= low - 1) put(slots, values[i + __builtin_ctz(low)] * k);
      }
      for (; i < end; i++) put(slots, values[i] * k);
    }
  }

  static void put(std::uint32_t* slots, Word placed) {
    std::uint32_t& slot = slots[placed >> 32];
    slot = std::min(slot, std::uint32_t(placed) >> 1);
  }

  // Slots that no earlier round filled get the least value of the round that reaches them first.
  void later_rounds(std::uint32_t* values, std::int64_t n, std::uint32_t* slots) {
    const std::uint32_t k = k_;
    for (int i = 0; i < LANES; i++) values[n + i] = values[0];  // repeats change nothing
    for (std::uint32_t turn = 1; missing_ && turn < k; turn++) {
      const Lanes salt = all(salts_[turn]);
      const std::uint32_t base = LATER + (turn - 1) * share_;
      filled_.clear();
      for (std::int64_t first = 0; first < n; first += LANES) {
        const Lanes mixed = mix32(load(values + first) ^ salt), slot = (mixed >> 16) * k >> 16;
        std::uint32_t places[LANES], low[LANES];
        store(places, slot);
        store(low, mixed);
        for (std::uint32_t open = open_ones(slot, places); open; open &= open - 1) {
          const int i = __builtin_ctz(open);
          std::uint32_t& found = slots[places[i]];
          if (found == NONE) missing_--, filled_.push_back(places[i]);
          found = std::min(found, base + ((low[i] & 0xFFFF) * share_ >> 16));
        }
      }
      for (const std::uint32_t place : filled_) bits_[place >> 6] &= ~(Word(1) << (place & 63));
    }
    for (std::uint32_t turn = k; missing_; turn++) {
      std::uint32_t& slot = slots[turn - k];
      if (slot != NONE) continue;
      const std::uint32_t base = LATER + (turn - 1) * share_;
      for (std::int64_t i = 0; i < n; i++)
        slot = std::min(slot, base + std::uint32_t(Word(mix32(values[i] ^ salts_[turn])) * share_ >> 32));
      missing_--;
    }
  }

  // Which lanes fall into slots that are open at the beginning of a round.
  std::uint32_t open_ones(Lanes slot, const std::uint32_t* places) const {
#if defined(__AVX512BW__)
    const __m512i words = _mm512_i32gather_epi32(_mm512_srli_epi32((__m512i)slot, 5), bits_.data(), 4);
    return bits_of((Signed)_mm512_sllv_epi32(words, _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_and_si512((__m512i)slot, _mm512_set1_epi32(31)))));
#elif defined(__AVX2__)
    const __m256i words = _mm256_i32gather_epi32((const int*)bits_.data(), _mm256_srli_epi32((__m256i)slot, 5), 4);
    return bits_of((Signed)_mm256_sllv_epi32(words, _mm256_sub_epi32(_mm256_set1_epi32(31), _mm256_and_si256((__m256i)slot, _mm256_set1_epi32(31)))));
#else
    std::uint32_t open = 0;
    for (int i = 0; i < LANES; i++) open |= std::uint32_t(bits_[places[i] >> 6] >> (places[i] & 63) & 1) << i;
    return open;
#endif
  }

  const int k_;
  const std::uint32_t share_;
  std::vector<std::uint32_t> salts_, distinct_, filled_;
  std::vector<Word> bits_;  // of open slots
  int missing_ = 0;
};

// Mixed 32-bit hashes of shingles: the lower halves of what `hash_shingles` mixes. Returns how many there are.
inline std::int64_t hash_shingles32(const std::uint32_t* tokens, std::int64_t count, std::int64_t width, std::uint32_t* out) {
  if (!count) return 0;
  width = std::min(width, count);
  const std::int64_t n = count - width + 1;
  const std::uint32_t length = std::uint32_t(Word(width) * K3), m = std::uint32_t(MULTIPLIER);
  for (std::int64_t i = 0; i < n; i += LANES) {
    Lanes state = load(tokens + i);
    for (std::int64_t j = 1; j < width; j++) state = state * m + load(tokens + i + j);
    store(out + i, mix32(state + length));
  }
  return n;
}

}  // namespace lookalike
