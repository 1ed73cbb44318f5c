// From UTF-8 to UTF-8 in a Unicode normal form. It is done for segments: a character that begins one is normal and
// composes with nothing before it. A number stands for each of its characters: its class above its code point, or a
// byte that is no UTF-8.
#include "normal_forms.h"

namespace lookalike {

namespace {

constexpr int CLASS = 21;  // bits of a code point
constexpr std::uint32_t POINT = (1u << CLASS) - 1, RAW = 1u << 31;
constexpr int FEW_MARKS = 24;  // that many in a row are sorted by insertion
// Hangul: leading consonants, vowels, what is before the finals, syllables
constexpr std::int32_t L = 0x1100, V = 0x1161, T = 0x11A7, S = 0xAC00, N_L = 19, N_V = 21, N_T = 28;
static_assert(FEW_MARKS > 0);

int class_of(std::uint32_t point) { return int(point >> CLASS & 0xFF); }

void append_utf8(std::uint32_t point, std::vector<std::uint8_t>& out) {
  const auto put = [&](std::uint32_t byte) { out.push_back(std::uint8_t(byte)); };
  const auto low = [&](int shift) { put(0x80 | (point >> shift & 0x3F)); };
  if (point >= RAW) return put(point);
  point &= POINT;
  if (point < 0x80) return put(point);
  if (point < 0x800) return put(0xC0 | point >> 6), low(0);
  if (point < 0x10000) return put(0xE0 | point >> 12), low(6), low(0);
  put(0xF0 | point >> 18), low(12), low(6), low(0);
}

}  // namespace

Bytes Scanner::next(Bytes at, Bytes end, Bytes limit) {
  const std::uint8_t* flags_of = of_.flags();
  int last = 0;
  while (at < end) {
    const Block block = load_block(at, limit);
    const std::uint64_t tops = block.tops();
    if (!tops) {
      at += 64, last = 0;
      continue;
    }
    const Shape shape(block, end - at);
    if (shape.sound) {
      int seen = 0;
      // Of Cyrillic, and of ideographs but rare ones, no character changes.
      const std::uint64_t quiet =
          (block.at_least(0xD0) & ~block.at_least(0xD2)) | (block.at_least(0xE4) & ~block.at_least(0xEA));
      const std::uint64_t left = shape.leads & ~quiet & shape.whole();
      for (std::uint64_t twos = left & ~shape.threes; twos; twos &= twos - 1)
        seen |= flags_of[point_of_two(at + std::countr_zero(twos))];
      for (std::uint64_t threes = left & shape.threes & ~shape.fours; threes; threes &= threes - 1)
        seen |= flags_of[point_of_three(at + std::countr_zero(threes))];
      for (std::uint64_t fours = left & shape.fours; fours; fours &= fours - 1) {
        const int flags = of_.kind_and_flags(point_of_four(at + std::countr_zero(fours)));
        seen |= (flags & (FORMED | HIDES)) | (flags >> 8 ? FALLS : 0);
      }
      if (seen & flags_) return at;
      if (!(seen & FALLS)) last = 0;
      else if (classes_fall(of_, at, shape, last) && stop_ & FALLS) return at;
      at += shape.size;
      continue;
    }
    for (Bytes until = std::min(at + 64, end); at < until;) {
      const auto [point, length] = decode(load64(at, limit), end - at);
      if (point < 0) invalid = true;
      const int flags = point < 0 ? 0 : of_.kind_and_flags(point), order = flags >> 8;
      if (flags & flags_ || (order && order < last && stop_ & FALLS)) return at;
      last = order;
      at += length;
    }
  }
  return end;
}

Normalizer::Normalizer(const Characters& characters, const Forms& forms, int flags)
    : of_(characters), forms_(forms), flags_(flags), formed_(flags & FORMED), scanner_(characters, flags) {}

void Normalizer::begin(Bytes begin, Bytes end, Bytes limit) {
  out.clear();
  begin_ = copied_ = begin, end_ = end, limit_ = limit;
}

std::int64_t Normalizer::add(Bytes begin, Bytes end) {
  std::int64_t growth = 0;
  for (Bytes at = begin; (at = scanner_.next(at, end, limit_)) < end;) {
    const Bytes until = std::min(at + 64, end), least = std::max(begin, copied_);
    while (at > least && !begins(at, end)) do
        at--;
      while (at > least && (*at & 0xC0) == 0x80);
    for (Bytes segment = at; at < until;) {  // character by character
      const auto [point, length] = decode(load64(at, limit_), end - at);
      if (point < 0) scanner_.invalid = true;
      if (begins(at, end)) segment = at, at += length;
      else at = normalize_segment(segment, end, growth);
    }
  }
  return growth;
}

bool Normalizer::finish() {
  if (copied_ == begin_) return false;
  append(out, copied_, end_);
  return true;
}

bool Normalizer::begins(Bytes at, Bytes end) const {
  const std::int32_t point = decode(load64(at, limit_), end - at).point;
  const int flags = point < 0 ? 0 : of_.kind_and_flags(point);
  return !(flags >> 8) && !(flags & flags_);
}

// Does what stands from `begin` up to the next character that begins a segment; returns where that is.
Bytes Normalizer::normalize_segment(Bytes begin, Bytes end, std::int64_t& growth) {
  points_.clear();
  bool marks = false;  // whether some are not in order
  int last = 0;
  Bytes at = begin;
  while (at < end) {
    const std::uint64_t word = load64(at, limit_);
    const auto [point, length] = decode(word, end - at);
    const int flags = point < 0 ? 0 : of_.kind_and_flags(point), order = flags >> 8;
    if (!order && !(flags & flags_) && !points_.empty()) break;
    at += length;
    if (flags & flags_ & HIDES) continue;
    marks |= 0 < order && order < last;
    last = order;
    if (point < 0) {
      scanner_.invalid = true;
      points_.push_back(RAW | std::uint32_t(word & 255));
    } else if (formed_ && S <= point && point < S + N_L * N_V * N_T) {
      const std::uint32_t syllable = std::uint32_t(point - S);
      points_.push_back(L + syllable / (N_V * N_T));
      points_.push_back(V + syllable % (N_V * N_T) / N_T);
      if (syllable % N_T) points_.push_back(T + syllable % N_T);
    } else if (const int place = formed_ ? forms_.place(point) : 0) {
      const auto first = forms_.parts.begin() + place + 1;
      points_.insert(points_.end(), first, first + forms_.parts[place]);
      marks = true;
    } else {
      points_.push_back(std::uint32_t(point) | std::uint32_t(order) << CLASS);
    }
  }
  if (formed_) {
    if (marks) sort_marks();
    compose();
  }
  encoded_.clear();
  for (const std::uint32_t point : points_) append_utf8(point, encoded_);
  if (std::equal(encoded_.begin(), encoded_.end(), begin, at)) return at;
  if (copied_ == begin_) out.reserve((end_ - begin_) / 8 * 9 + 64);
  append(out, copied_, begin);
  append(out, encoded_.data(), encoded_.data() + encoded_.size());
  growth += std::int64_t(encoded_.size()) - (at - begin);
  copied_ = at;
  return at;
}

// Sorts marks in a row by class, those of one class as they stand.
void Normalizer::sort_marks() {
  const auto by_class = [](std::uint32_t left, std::uint32_t right) { return class_of(left) < class_of(right); };
  for (auto first = points_.begin(); first < points_.end();) {
    const auto stop = std::find_if(first, points_.end(), [](std::uint32_t point) { return class_of(point) == 0; });
    if (stop - first <= FEW_MARKS) {
      for (auto i = first; i < stop; i++) std::rotate(std::upper_bound(first, i, *i, by_class), i, i + 1);
    } else {
      std::int64_t counts[257] = {};
      for (auto i = first; i < stop; i++) counts[class_of(*i) + 1]++;
      for (int i = 1; i < 257; i++) counts[i] += counts[i - 1];
      ordered_.resize(stop - first);
      for (auto i = first; i < stop; i++) ordered_[counts[class_of(*i)]++] = *i;
      std::copy(ordered_.begin(), ordered_.end(), first);
    }
    if (stop == points_.end()) return;
    first = stop + 1;
  }
}

void Normalizer::compose() {
  std::int64_t starter = -1, left = 0;
  int row = 0, last = 0;  // the starter's in the table of composites; the class of what was put behind it last
  for (std::size_t i = 0; i < points_.size(); i++) {
    const std::uint32_t numbered = points_[i];
    const std::int32_t point = std::int32_t(numbered & POINT);
    const int order = class_of(numbered);
    if (starter >= 0 && (last == 0 || last < order)) {
      const std::int64_t before = points_[starter];
      std::uint32_t made = 0;
      if (row > 0) {
        made = numbered < RAW ? forms_.composite(row, forms_.second(point)) : 0;
      } else if (last == 0 && L <= before && before < L + N_L && V <= point && point < V + N_V) {
        made = std::uint32_t(S + ((before - L) * N_V + point - V) * N_T);
      } else if (last == 0 && S <= before && before < S + N_L * N_V * N_T && T < point && point < T + N_T) {
        if ((before - S) % N_T == 0) made = std::uint32_t(before + point - T);
      }
      if (made) {
        points_[starter] = made;
        row = forms_.first(std::int32_t(made));
        continue;
      }
    }
    if (order == 0) {
      starter = left;
      row = numbered < RAW ? forms_.first(point) : 0;
    }
    last = order;
    points_[left++] = numbered;
  }
  points_.resize(left);
}

// Returns texts in a normal form, their offsets, and whether they hold bytes that are no UTF-8; no offsets: they are
// in it already.
static std::tuple<Vector<std::uint8_t>, Vector<std::int64_t>, bool> normalize_texts(Span<const std::uint8_t> data,
                                                                                    Span<const std::int64_t> offsets, int flags,
                                                                                    const Characters& characters,
                                                                                    const Forms& forms) {
  Normalizer normalizer(characters, forms, flags);
  const std::int64_t rows = offsets.size() - 1;
  Vector<std::int64_t> made(offsets.size());
  made[0] = 0;
  normalizer.begin(data.begin() + offsets[0], data.begin() + offsets[rows], data.end());
  for (std::int64_t row = 0; row < rows; row++) {
    const std::int64_t growth = normalizer.add(data.begin() + offsets[row], data.begin() + offsets[row + 1]);
    made[row + 1] = made[row] + offsets[row + 1] - offsets[row] + growth;
  }
  if (!normalizer.finish()) made.clear();
  return {std::move(normalizer.out), std::move(made), normalizer.invalid()};
}

// Finds the first byte that is no UTF-8: its row, and where in it; -1 if there is none.
static std::pair<std::int64_t, std::int64_t> find_invalid(Span<const std::uint8_t> data, Span<const std::int64_t> offsets) {
  for (std::int64_t row = 0; row + 1 < offsets.size(); row++) {
    const Bytes begin = data.begin() + offsets[row], end = data.begin() + offsets[row + 1];
    for (Bytes at = begin; at < end;) {
      const Block block = load_block(at, data.end());
      if (!block.tops()) {
        at += 64;
      } else if (const Shape shape(block, end - at); shape.sound) {
        at += shape.size;
      } else {
        const auto [point, length] = decode(load64(at, data.end()), end - at);
        if (point < 0) return {row, at - begin};
        at += length;
      }
    }
  }
  return {-1, -1};
}

void define_normal_forms(nb::module_& m) {
  using Shorts = Span<const std::uint16_t>;
  nb::class_<Forms>(m, "Forms")
      .def("__init__", [](Forms* made, Shorts pages, Shorts places, Shorts firsts, Shorts seconds,
                          Span<const std::uint32_t> parts, Table<const std::uint32_t> composites) {
        const auto all = [](auto array) { return std::vector(array.begin(), array.end()); };
        const std::uint32_t* first = composites.begin();
        new (made) Forms{all(pages),
                         all(places),
                         all(firsts),
                         all(seconds),
                         all(parts),
                         {first, first + composites.rows() * composites.columns()},
                         std::size_t(composites.columns())};
      });
  define(m, "normalize_texts", &normalize_texts);
  define(m, "find_invalid", &find_invalid);
}

}  // namespace lookalike
