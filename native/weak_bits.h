// Sets of bits to flip, the cheapest first, and the prefixes that a near-duplicate of a fingerprint is likeliest to have:
// probabilistic SimHash matching, or query-directed probing (Lv et al., VLDB 2007).
#pragma once
#include "hamming.h"

namespace lookalike {

// Finds the cheapest sets of at most `most` bits, as masks over ascending costs of up to 64. Each set comes once: the empty one
// first; from a set whose last bit is i come the set with i + 1 in its place and, while it has room, the set with i + 1 added.
// Neither is cheaper.
class FlipSets {
 public:
  // Writes as many sets as there are, and there is room for; returns how many.
  std::int64_t find(Span<const double> costs, std::int64_t most, Span<Word> out) {
    const std::int64_t n = costs.size();
    heap_.clear();
    std::int64_t written = 0;
    if (out.size()) out[written++] = 0;
    if (n && most > 0) heap_.push_back({costs[0], 1});
    while (written < out.size() && !heap_.empty()) {
      const Set best = heap_.front();
      out[written++] = best.flips;
      pop();
      const std::int64_t last = 63 - std::countl_zero(best.flips);
      if (last + 1 == n) continue;
      const Word own = Word(1) << last, next = own << 1;
      const double cost = best.cost + costs[last + 1];
      push({cost - costs[last], (best.flips ^ own) | next});
      if (popcount(best.flips) < most) push({cost, best.flips | next});
    }
    return written;
  }

 private:
  struct Set {
    double cost;
    Word flips;
  };
  void pop() {
    const Set moved = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (!size) return;
    std::size_t i = 0;
    for (std::size_t child; (child = 2 * i + 1) < size; i = child) {
      if (child + 1 < size && heap_[child + 1].cost < heap_[child].cost) child++;
      if (heap_[child].cost >= moved.cost) break;
      heap_[i] = heap_[child];
    }
    heap_[i] = moved;
  }
  void push(Set set) {
    std::size_t i = heap_.size();
    heap_.push_back(set);
    for (; i && heap_[(i - 1) / 2].cost > set.cost; i = (i - 1) / 2) heap_[i] = heap_[(i - 1) / 2];
    heap_[i] = set;
  }

  std::vector<Set> heap_;
};

}  // namespace lookalike
