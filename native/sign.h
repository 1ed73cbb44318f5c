// Signatures: fast similarity sketching (Dahlgaard, Knudsen & Thorup, FOCS 2017).
#pragma once
#include <algorithm>
#include <vector>
#include "hash.h"
#include "lanes.h"

namespace lookalike {

constexpr std::uint32_t EMPTY = 0xFFFFFFFF;
constexpr Word HALF = 0x80000000, LOW32 = 0xFFFFFFFF, HIGH32 = ~LOW32;

inline bool is_filled(std::uint32_t slot) { return slot != EMPTY; }

// Makes k slots of the shingles of a text. A slot is a number that orders as (round, value): round 0 has the lower half of the
// range, the later rounds, which only short texts reach, share the upper half evenly.
class Signer {
 public:
  Signer(int k, Word seed)
      : k_(k),
        seed_(seed),
        share_(HALF / (2 * k)),
        salts_(k),
        slots_((k + 63) / 64 * 64),
        filled_(k + 1),
        open_(slots_.size() / 64 + 3) {
    salts_[0] = fmix64(seed);
    for (int turn = 1; turn < k; turn++) salts_[turn] = salt_of(turn);
  }

  void sign(const Word* values, Long n, std::uint32_t* slots) {
    std::fill_n(slots_.data(), k_, EMPTY);
    if (n) first_round(values, n);
    if (n && (n < 3 * k_ || find_open())) later_rounds(values, n);
    std::copy_n(slots_.data(), k_, slots);
  }

 private:
  static constexpr int BLOCK = 512, PAD = 8;

  // Lowers slots to the numbers of hashes that were placed; without a branch, for which is smaller is unpredictable.
  void put(Long n) {
    std::uint32_t* const slots = slots_.data();
#pragma GCC unroll 4
    for (Long i = 0; i < n; i++) {
      const Word placed = placed_[i];
      std::uint32_t& slot = slots[placed >> 32];
      slot = std::min(slot, std::uint32_t(placed));
    }
  }

  // Slot and number of values in round 0.
  template <class W>
  static W placed_first(W value, W salt, W k) {
    const W mixed = (value ^ salt) * ODD;
    return (multiply_halves(mixed >> 32, k) & HIGH32) | (mixed & 0x7FFFFFFFu);
  }

  void first_round(const Word* values, Long n) {
    Long first = 0;
    for (const Long few = std::min<Long>(n, 16 * k_); first < few; first += BLOCK)
      put_all(values + first, std::min<Long>(BLOCK, n - first));
    while (first < n) {  // of the others only those below the largest slot matter
      const Word most = *std::max_element(slots_.begin(), slots_.begin() + k_);
      for (const Long end = std::min(n, 2 * first); first < end; first += BLOCK) {
        const Long some = std::min<Long>(BLOCK, n - first);
        if (most == EMPTY) put_all(values + first, some);
        else put_below(values + first, some, most);
      }
    }
  }

  void put_all(const Word* values, Long n) {
    const Word salt = salts_[0], k = k_;
    const Words salts = Words{} + salt, ks = Words{} + k;
    Long i = 0;
    for (; i + WORD_LANES <= n; i += WORD_LANES) store(placed_ + i, placed_first(load(values + i), salts, ks));
    for (; i < n; i++) placed_[i] = placed_first(values[i], salt, k);
    put(n);
  }

  void put_below(const Word* values, Long n, Word most) {
    const Word salt = salts_[0], k = k_;
    const Words salts = Words{} + salt, factor = Words{} + ODD, least = Words{} + (most + 1);
    Long i = 0;
    int count = 0;
    for (; i + 8 <= n; i += 8) {
      unsigned below = 0;
      for (int j = 0; j < 8; j += WORD_LANES)
        below |= tops_of((multiply_halves(load(values + i + j) ^ salts, factor) & 0x7FFFFFFFu) - least) << j;
      count += number_bits(below, std::uint32_t(i), hits_ + count);
    }
    for (; i < n; i++) hits_[count++] = std::uint32_t(i);
    for (i = 0; i < count; i++) placed_[i] = placed_first(values[hits_[i]], salt, k);
    put(count);
  }

  // Finds which slots are empty; returns how many.
  int find_open() {
    missing_ = 0;
    for (int i = 0; i < k_; i += 64) {
      Word bits = 0;
      for (int j = 0; j < 64; j += LANES) bits |= Word(bits_of(load(slots_.data() + i + j) == EMPTY)) << j;
      open_[i / 64] = bits;
      missing_ += std::popcount(bits);
    }
    return missing_;
  }

  // The first of the three steps of fmix64 is done of values and of salts alone: it is linear.
  static Word begun(Word value) { return value ^ value >> 33; }

  Word salt_of(int turn) const { return begun(fmix64(seed_ + turn * GOLDEN)); }

  Word base_of(int turn) const { return HALF + Word(turn - 1) * share_; }

  // Slot and number of begun values in a later round.
  template <class W>
  static W placed_later(W x, W k, W share, W base) {
    x = product(x, 0xFF51AFD7ED558CCD);
    x = product(x ^ x >> 33, 0xC4CEB9FE1A85EC53);
    x ^= x >> 33;
    return (multiply_halves(x >> 32, k) & HIGH32) | (base + (multiply_halves(x, share) >> 32));
  }
  Word placed(Word x, Word base) const { return placed_later<Word>(x, k_, share_, base); }

  void begin(const Word* values, Long n) {
    if (Long(mixed_.size()) < n + PAD) mixed_.resize(n + PAD);
    for (Long i = 0; i < n; i++) mixed_[i] = begun(values[i]);
    std::fill_n(mixed_.begin() + n, PAD, mixed_[0]);  // repeats change nothing
  }

  void later_rounds(const Word* values, Long n) {
    int turn = 1;
    if (n <= 32 * k_) begin(values, n);
    if (n < 3 * k_) {
      turn = put_rounds(n);
    } else {
      while (n <= 32 * k_ && missing_ && turn < std::min(4, k_)) turn = put_open<1>(n, turn);
      if (!missing_) return;
      find_distinct(values, n);  // it repeats itself
      if (distinct_.empty()) begin(values, n);
      else begin(distinct_.data(), n = Long(distinct_.size()));
    }
    while (missing_ && turn < k_) turn = n < 32 ? put_open<2>(n, turn) : put_open<1>(n, turn);
    for (turn = k_; missing_; turn++) {
      std::uint32_t& slot = slots_[turn - k_];
      if (slot != EMPTY) continue;
      const Word salt = salt_of(turn);
      for (Long i = 0; i < n; i++) slot = std::min(slot, std::uint32_t(placed(mixed_[i] ^ salt, base_of(turn))));
      missing_--;
    }
  }

  // Puts all hashes of so many rounds, from round 1 on, that few slots stay open; returns the next round.
  int put_rounds(Long n) {
    const Words k = Words{} + Word(k_), share = Words{} + share_;
    int end = 1 + int(std::min<Long>(k_ - 1, std::max<Long>(1, (4 * k_ - n / 2) / n))), turn = 1;
    if (n <= 4 * WORD_LANES) {  // several rounds side by side
      const int at_once = int(BLOCK / n / WORD_LANES * WORD_LANES);
      Words steps;
      for (int i = 0; i < WORD_LANES; i++) steps[i] = i * share_;
      end = 1 + std::min((end - 1 + WORD_LANES / 2) / WORD_LANES, (k_ - 1) / WORD_LANES) * WORD_LANES;
      for (int some; turn < end; turn += some) {
        some = std::min(at_once, end - turn);
        Word* to = placed_;
        for (Long i = 0; i < n; i++)
          for (int first = turn; first < turn + some; first += WORD_LANES, to += WORD_LANES)
            store(to, placed_later(load(salts_.data() + first) ^ mixed_[i], k, share, steps + base_of(first)));
        put(n * some);
      }
    } else {
      for (; turn < end; turn++) {
        const Words salt = Words{} + salts_[turn], base = Words{} + base_of(turn);
        for (Long first = 0; first < n; first += BLOCK) {
          const Long some = std::min<Long>(BLOCK, n - first);
          const Word* const from = mixed_.data() + first;
          for (Long i = 0; i < some; i += WORD_LANES) store(placed_ + i, placed_later(load(from + i) ^ salt, k, share, base));
          put(some);
        }
      }
    }
    find_open();
    return end;
  }

  // Numbers which hashes of some values, in one round or in two, fall into open slots; returns how many. Of two rounds four
  // values are looked at in both, then the next four.
  template <int rounds>
  int find_hits(const Word* at, Long n, Word salt, Word next) {
    int count = 0;
#if defined(__AVX2__)
    typedef Word Four __attribute__((vector_size(32)));
    const int* const bits = (const int*)open_.data();
    const __m256i few_bits = _mm256_loadu_si256((const __m256i*)bits), k = _mm256_set1_epi64x(k_);
    const bool few = k_ <= 256;
    const auto slots_of = [&](const Word* from, Word mixed_with) {  // in the upper halves of words
      Four x;
      std::memcpy(&x, from, sizeof x);
      x = product(x ^ mixed_with, 0xFF51AFD7ED558CCD);
      x ^= x >> 33;
      return __m256(_mm256_mul_epu32(__m256i(product(x, 0xC4CEB9FE1A85EC53) >> 32), k));
    };
    for (Long i = 0; i < n; i += 8 / rounds) {
      const __m256 a = slots_of(at + i, salt), b = rounds == 2 ? slots_of(at + i, next) : slots_of(at + i + 4, salt);
      const __m256i slots = _mm256_permute4x64_epi64(__m256i(_mm256_shuffle_ps(a, b, 0xDD)), 0xD8);
      const __m256i word = _mm256_srli_epi32(slots, 5);
      const __m256i words = few ? _mm256_permutevar8x32_epi32(few_bits, word) : _mm256_i32gather_epi32(bits, word, 4);
      const __m256i tops = _mm256_sllv_epi32(words, _mm256_andnot_si256(slots, _mm256_set1_epi32(31)));
      count += number_bits(unsigned(_mm256_movemask_ps(__m256(tops))), std::uint32_t(rounds * i), hits_ + count);
    }
#else
    for (Long i = 0; i < n; i++)
      for (int round = 0; round < rounds; round++) {
        const Word slot = placed(at[i] ^ (round ? next : salt), 0) >> 32;
        hits_[count] = unsigned(rounds == 2 ? (i & ~3) << 1 | round << 2 | (i & 3) : i);
        count += open_[slot >> 6] >> (slot & 63) & 1;
      }
#endif
    return count;
  }

  // Puts the hashes of a round, or of two, into slots that no earlier round filled, and which it changes no more; returns the
  // next round.
  template <int rounds>
  int put_open(Long n, int turn) {
    const int last = std::min(turn + rounds, k_) - 1;
    const Word salts[2] = {salts_[turn], salts_[last]}, bases[2] = {base_of(turn), base_of(last)};
    const Word k = k_, share = share_;
    std::uint32_t *const slots = slots_.data(), *const filled = filled_.data();
    int count = 0;
    for (const Word* at = mixed_.data(); n > 0; n -= BLOCK, at += BLOCK) {
      const int hits = find_hits<rounds>(at, std::min<Long>(BLOCK, n), salts[0], salts[1]);
      for (int i = 0; i < hits; i++) {
        const unsigned hit = hits_[i], round = rounds == 2 ? hit >> 2 & 1 : 0;
        const Word value = at[rounds == 2 ? (hit >> 1 & ~3u) | (hit & 3) : hit];
        const Word placed = placed_later(value ^ salts[round], k, share, bases[round]);
        std::uint32_t& slot = slots[placed >> 32];
        filled[count] = std::uint32_t(placed >> 32);
        count += slot == EMPTY;
        slot = std::min(slot, std::uint32_t(placed));
      }
    }
    for (int i = 0; i < count; i++) open_[filled[i] >> 6] &= ~(Word(1) << (filled[i] & 63));
    missing_ -= count;
    return last + 1;
  }

  // Finds the distinct values of a long text that repeats itself; none if there are many.
  void find_distinct(const Word* values, Long n) {
    distinct_.clear();
    for (Long first = 0, some; first < n; first += some) {
      if (Long(distinct_.size()) > 32 * k_) return distinct_.clear();
      some = std::min(n - first, std::max<Long>(4 * k_, Long(distinct_.size())));
      distinct_.insert(distinct_.end(), values + first, values + first + some);
      std::sort(distinct_.begin(), distinct_.end());
      distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    }
  }

  const int k_;
  const Word seed_, share_;
  std::vector<Word> salts_, distinct_, mixed_;
  std::vector<std::uint32_t> slots_, filled_;
  std::vector<Word> open_;  // bits of empty slots
  Word placed_[BLOCK];
  std::uint32_t hits_[2 * BLOCK + PAD];
  int missing_ = 0;
};

}  // namespace lookalike
