// Signatures: fast similarity sketching (Dahlgaard, Knudsen & Thorup, FOCS 2017), band keys and codes.
#pragma once
#include <algorithm>
#include <vector>
#include "hash.h"

namespace lookalike {

constexpr std::uint32_t EMPTY = 0xFFFFFFFF;
constexpr Word HALF = 0x80000000, LOW32 = 0xFFFFFFFF, HIGH32 = ~LOW32;

inline bool is_filled(std::uint32_t slot) { return slot != EMPTY; }

// Makes k slots of the shingles of a text. A slot is a number that orders as (round, value): round 0 has the lower half of the
// range, the later rounds, which only short texts reach, share the upper half evenly.
class Signer {
 public:
  Signer(int k, Word seed) : k_(k), seed_(seed), share_(HALF / (2 * k)), salts_(k) {
    for (int turn = 0; turn < k; turn++) salts_[turn] = fmix64(seed + turn * GOLDEN);
  }

  void sign(const Word* values, std::int64_t n, std::uint32_t* slots) {
    std::fill_n(slots, k_, EMPTY);
    const Word k = k_, salt = salts_[0];
    for (std::int64_t first = 0; first < n; first += BLOCK) {
      const std::int64_t some = std::min<std::int64_t>(BLOCK, n - first);
      for (std::int64_t i = 0; i < some; i++) {
        const Word mixed = (values[first + i] ^ salt) * ODD;
        placed_[i] = ((mixed >> 32) * k & HIGH32) | (mixed & 0x7FFFFFFF);
      }
      for (std::int64_t i = 0; i < some; i++) {
        std::uint32_t& slot = slots[placed_[i] >> 32];
        slot = std::min(slot, std::uint32_t(placed_[i]));
      }
    }
    if (!n) return;
    missing_ = int(std::count(slots, slots + k_, EMPTY));
    if (!missing_) return;
    if (n > 4 * k_) {  // it repeats itself
      distinct_.assign(values, values + n);
      std::sort(distinct_.begin(), distinct_.end());
      n = std::unique(distinct_.begin(), distinct_.end()) - distinct_.begin();
      values = distinct_.data();
    }
    fill(values, n, slots);
  }

 private:
  static constexpr int BLOCK = 512, AT_ONCE = 256;

  void place(std::int64_t count, std::uint32_t* slots) {
    for (std::int64_t i = 0; i < count; i++) {
      std::uint32_t& slot = slots[placed_[i] >> 32];
      missing_ -= slot == EMPTY;
      slot = std::min(slot, std::uint32_t(placed_[i]));
    }
  }

  Word placed(Word value, int turn) const {
    const Word mixed = fmix64(value ^ salts_[turn]);
    return ((mixed >> 32) * Word(k_) & HIGH32) | (HALF + Word(turn - 1) * share_ + ((mixed & LOW32) * share_ >> 32));
  }

  // A round changes no slot that an earlier one filled, so that of few values several rounds are made at a time.
  void fill(const Word* values, std::int64_t n, std::uint32_t* slots) {
    int turn = 1;
    for (const int most = int(AT_ONCE / n); most >= 8 && missing_ && turn < k_;) {
      const int rounds = std::min(most, k_ - turn);
      for (std::int64_t i = 0; i < n; i++)
        for (int each = 0; each < rounds; each++) placed_[i * rounds + each] = placed(values[i], turn + each);
      place(n * rounds, slots);
      turn += rounds;
    }
    for (; missing_ && turn < k_; turn++)
      for (std::int64_t first = 0; first < n; first += BLOCK) {
        const std::int64_t some = std::min<std::int64_t>(BLOCK, n - first);
        for (std::int64_t i = 0; i < some; i++) placed_[i] = placed(values[first + i], turn);
        place(some, slots);
      }
    for (; missing_; turn++) {
      std::uint32_t& slot = slots[turn - k_];
      if (slot != EMPTY) continue;
      const Word salt = fmix64(seed_ + turn * GOLDEN), base = HALF + Word(turn - 1) * share_;
      for (std::int64_t i = 0; i < n; i++)
        slot = std::min(slot, std::uint32_t(base + ((fmix64(values[i] ^ salt) & LOW32) * share_ >> 32)));
      missing_--;
    }
  }

  const int k_;
  const Word seed_, share_;
  std::vector<Word> salts_, distinct_;
  Word placed_[BLOCK];
  int missing_ = 0;
};

// A key of each band of slots, and a code of 16 bits of each slot; both differ between groups.
inline void band_keys(const std::uint32_t* slots, Word group, int bands, int rows, Word* keys, std::uint16_t* codes) {
  for (int band = 0; band < bands; band++) {
    Word state = K0 ^ group;
    for (int i = band * rows; i < (band + 1) * rows; i++) {
      state = mum(state ^ slots[i], K0 + band);
      codes[i] = std::uint16_t(mum(slots[i] ^ group, K0 + i) >> 48);
    }
    keys[band] = fmix64(state);
  }
}

}  // namespace lookalike
