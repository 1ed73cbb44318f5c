// Where tokens are in a text: the same that folding makes.
#pragma once
#include "fold.h"

namespace lookalike {

// A sink is told of tokens: `open(at, n)`, n of them begin here; `close(at)`, those end here; `skip(n)`, n more begin, and all
// end but the last perhaps, unless it answers that it must see them. When it is `done()` it wants no more.

// Scans words: see `WordFolder`. Characters that show nothing do not count.
template <class Sink>
void scan_words(Bytes at, Bytes end, Bytes limit, const Characters& characters, Sink& sink) {
  int previous = OTHER;  // of the word that is open, if one is
  const auto close = [&] {
    if (previous != OTHER) sink.close(at);
    previous = OTHER;
  };
  while (at < end && !sink.done()) {
    const Block block = load_block(at, limit);
    const std::uint64_t tops = block.tops();
    const int size = int(std::min<Long>(end - at, tops ? std::countr_zero(tops) : 64));
    if (size) {
      const std::uint64_t mask = ~0ull >> (64 - size), words = ~block.words(false).equal(32) & mask;
      if (previous == SINGLE || !(words & 1)) close();
      const std::uint64_t before = words << 1 | (previous != OTHER);
      if (!sink.skip(std::popcount(words & ~before)))
        for (std::uint64_t edges = (words ^ before) & mask; edges; edges &= edges - 1) {
          const int i = std::countr_zero(edges);
          if (words >> i & 1) sink.open(at + i, 1);
          else sink.close(at + i);
        }
      previous = words >> (size - 1) & 1 ? WORD : OTHER;
      at += size;
    }
    for (int length; at < end && *at >= 0x80 && !sink.done(); at += length) {
      const Decoded found = decode(load64(at, limit), end - at);
      length = found.length;
      const int flags = found.point < 0 ? int(OTHER) : characters.kind_and_flags(found.point), kind = flags & KIND;
      if (flags & HIDDEN) continue;
      if (kind == OTHER || kind == SPACE) {
        close();
      } else if (previous == OTHER || (kind != MARK && (kind == SINGLE || previous == SINGLE))) {
        close();
        sink.open(at, 1);
        previous = kind == MARK ? int(WORD) : kind;
      }
    }
  }
  close();
}

// Calls for each character that is no white space with where the white space before it begins, or null, and whether that breaks
// a line, till the sink is done. Returns where the text ends, but for white space.
template <class Sink, class See>
Bytes each_visible(Bytes at, Bytes end, Bytes limit, const Characters& characters, const Sink& sink, See see) {
  Bytes gap = nullptr;
  bool breaks = false;
  for (int length; at < end && !sink.done(); at += length) {
    const Decoded found = decode(load64(at, limit), end - at);
    length = found.length;
    if (found.point >= 0 && (characters.kind_and_flags(found.point) & KIND) == SPACE) {
      gap = gap ? gap : at;
      breaks |= breaks_line(found.point);
    } else {
      see(at, found, std::exchange(gap, nullptr), std::exchange(breaks, false));
    }
  }
  return gap ? gap : end;
}

// Scans the code points of `fold_spaces`; those that a character folds to are in one place.
template <class Sink>
void scan_characters(Bytes at, Bytes end, Bytes limit, const Characters& characters, bool fold_case, Sink& sink) {
  bool some = false;
  each_visible(at, end, limit, characters, sink, [&](Bytes at, Decoded found, Bytes gap, bool) {
    if (gap && some) sink.open(gap, 1), sink.close(at);
    some = true;
    const std::uint64_t fold = found.point >= 0 && fold_case ? characters.fold(found.point) : 0;
    int parts = 1;
    for (int i = 1; i < int(fold >> 56); i++) parts += (fold >> 8 * i & 0xC0) != 0x80;
    sink.open(at, parts);
    sink.close(at + found.length);
  });
}

// Scans lines, without white space at their ends; blank ones do not count.
template <class Sink>
void scan_lines(Bytes at, Bytes end, Bytes limit, const Characters& characters, Sink& sink) {
  bool inside = false;
  const Bytes last = each_visible(at, end, limit, characters, sink, [&](Bytes at, Decoded, Bytes gap, bool breaks) {
    if (inside && breaks) sink.close(gap);
    if (!inside || breaks) sink.open(at, 1);
    inside = true;
  });
  if (inside) sink.close(last);
}

}  // namespace lookalike
