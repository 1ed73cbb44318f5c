// Shingles numbered by first appearance, by walking along text that is known.
#pragma once
#include <memory>
#include <tuple>
#include "arrays.h"
#include "tag_table.h"
#include "text_folder.h"
#include "tokens.h"

namespace lookalike {

// A text is compared byte by byte with what came before, from the place on where the text before went on from there; only
// what differs is tokenised and looked up. No hash decides: a shingle that is found in the table is compared by the keys of
// its tokens. In a run from there on the bytes between two ends of tokens are equal, and so are the tokens before it: its
// shingles are too. (Folded text may have more than one separator between two tokens; runs end where their number differs,
// and no number depends on that.)
//
// Every place of known text stands for a token and for the shingle that ends with it. The first `width - 1` places of a
// segment are context: of them known text holds keys only, and no shingle. A byte that folded text never holds ends each
// segment. A text shorter than a shingle is one shingle of its tokens and of the key 0, which no token has.
class KnownText {
 public:
  KnownText(int unit, std::int64_t width, bool fold_case, Span<const Word> points, Span<const Word> secret)
      : unit_(unit),
        fold_case_(fold_case),
        width_(width),
        separator_(unit == LINES ? 10 : 32),
        points_(points.begin(), points.end()),
        secret_{secret[0], secret[1], secret[2] | 1, secret[3]},
        keys_(width + MANY),
        ends_(width + MANY),
        tags_(width + MANY),
        n_places_(width) {}

  ~KnownText() {
    if (room_ && room_->bytes() <= MOST_KEPT) kept() = std::move(room_);
  }

  // Numbers the shingles of texts: (numbers with repeats, where those of each text begin). Fewer tokens than the width make one
  // shingle, none make none.
  std::tuple<Vector<std::int32_t>, Vector<std::int64_t>> number(Data data, Longs offsets, int flags,
                                                                const Characters& characters, const Forms& forms) {
    struct Numbers {
      KnownText& known;
      Vector<std::int32_t> numbers;
      Long written = 0;
      Vector<Long> ends{0};
      std::int32_t number(Long) const { return std::int32_t(known.n_shingles_); }
      void add(Long place, Long count) {
        grow(numbers, written + count);
        std::copy_n(&known.room_->numbers[place], count, &numbers[written]);
        written += count;
      }
      void end_text() { ends.push_back(written); }
    } sink{*this, Vector<std::int32_t>((offsets[offsets.size() - 1] - offsets[0]) / 4 + 64)};
    read(data, offsets, flags, characters, forms, sink);
    sink.numbers.resize(sink.written);
    return {std::move(sink.numbers), std::move(sink.ends)};
  }

  // Tells a sink of the shingles of texts: `add(place, count)`, those that end at so many places from there on, and
  // `end_text()`. `number(place)` is the number of one that is new. Known text serves one kind of sink.
  template <class Sink>
  void read(Data data, Longs offsets, int flags, const Characters& characters, const Forms& forms, Sink& sink) {
    if (!room_) take_room(offsets[offsets.size() - 1] - offsets[0]);
    TextFolder folder(unit_, fold_case_, flags, characters, forms);
    Bytes bytes = data.begin();
    for (std::int64_t row = 0; row + 1 < offsets.size(); row++) {
      Vector<std::uint8_t>& folded = room_->folded;
      const std::int64_t length = folder.fold(bytes + offsets[row], bytes + offsets[row + 1], data.end(), folded);
      std::fill_n(folded.data() + length, 64, separator_);
      std::fill_n(folded.data() + length + 64, 64, ROW_END);
      walk(folded.data(), length, sink);
      sink.end_text();
    }
  }

  // Of 64 places each: at which a shingle was new, as bits; and the number of the shingle at any.
  Word new_places(Long block) const { return room_->fresh[block]; }
  std::int32_t number_at(Long place) const { return room_->numbers[place]; }

 private:
  // Tokens that are looked up together, at first and after several that were new.
  static constexpr std::int64_t FEW = 8, MANY = 32;
  // Tokens of a known run that is written into the segment that is open: no end of it for their sake.
  static constexpr std::int64_t SHORT = 8;
  // Bytes that may be read, or written, behind known text.
  static constexpr std::int64_t BEYOND = 256;
  // Bytes of room that a thread uses again; memory that is new each time costs as much as the work.
  static constexpr std::int64_t MOST_KEPT = 16 << 20;
  static constexpr std::uint8_t SEGMENT_END = 0xFF, ROW_END = 0xFE;  // no bytes of UTF-8

  // A token's key, where in the text it ends, and the place that a text went on with last, mostly the next one. 0 is none.
  struct Place {
    Pair key;
    std::int64_t end;
    std::uint64_t next;
  };

  // By place also the numbers of shingles, and whether they were new there (`fresh`); `table` finds the places of shingles.
  // `folded`: the text that is read.
  struct Room {
    TagTable<Tagged> table;
    Vector<Place> places;
    Vector<std::int32_t> numbers;
    Vector<Word> fresh;
    Vector<std::uint8_t> text, folded;
    std::int64_t bytes() const {
      const std::size_t by_place = sizeof(Place) * places.capacity() + 4 * numbers.capacity();
      return table.bytes() + std::int64_t(by_place + text.capacity() + folded.capacity());
    }
  };

  static std::unique_ptr<Room>& kept() {
    static thread_local std::unique_ptr<Room> mine;
    return mine;
  }

  void take_room(std::int64_t n_bytes) {
    room_ = std::move(kept());
    if (!room_) room_ = std::make_unique<Room>();
    room_->table.reset(std::clamp<std::int64_t>(std::bit_floor(std::uint64_t(n_bytes) / 32 | 1), 256, 1 << 16));
    grow(room_->places, std::max<std::int64_t>(n_places_, 256));
    std::fill_n(room_->places.begin(), n_places_, Place());
    room_->fresh.assign(room_->fresh.size(), 0);
  }

  // Makes room for so many places and bytes more.
  void make_room_for(std::int64_t n_places, std::int64_t n_bytes) {
    if (n_places_ + n_places > INT32_MAX) throw std::length_error("the texts are too long to number their shingles");
    grow(room_->places, n_places_ + n_places);
    grow(room_->numbers, n_places_ + n_places);
    room_->fresh.resize(room_->places.size() / 64 + 1, 0);
    grow(room_->text, n_text_ + n_bytes + BEYOND);
  }

  // Reads keys and ends of the tokens of `folded[begin:length]` from `count` on, up to `most`; returns how many there are then.
  std::int64_t read_tokens(Bytes folded, std::int64_t begin, std::int64_t length, std::int64_t count, std::int64_t most) {
    std::int64_t base = begin;
    Word tokens = token_bytes(folded + base, separator_);
    while (count < most) {
      while (!tokens && base < length) base += 64, tokens = token_bytes(folded + base, separator_);
      if (!tokens) break;
      const int skip = std::countr_zero(tokens);
      const std::int64_t start = base + skip;
      if (start >= length) break;
      int past = skip + std::countr_zero(~(tokens >> skip));
      if (past >= 64) {
        base = start, tokens = token_bytes(folded + base, separator_);
        while (tokens == ~Word(0)) base += 64, tokens = token_bytes(folded + base, separator_);
        past = std::countr_zero(~tokens);
      }
      tokens &= ~Word(0) << past;
      ends_[count] = base + past;
      keys_[count++] = token_key(folded + start, base + past - start, points_.data());
    }
    return count;
  }

  // Hashes all shingles of tokens that were read, and asks for what they need of the table.
  void hash_ahead(std::int64_t count) {
    for (std::int64_t i = 0; i < count; i++) tags_[i] = mum(keys_[i].a ^ secret_[0], keys_[i].b ^ secret_[1]);
    Word state = 0, leaving = 1;
    for (std::int64_t i = 0; i < context_; i++) state = state * secret_[2] + tags_[i], leaving *= secret_[2];
    for (std::int64_t i = 0; i + context_ < count; i++) {
      state = state * secret_[2] + tags_[i + context_];
      const Word first = std::exchange(tags_[i], fmix64(state + secret_[3]));
      room_->table.prefetch(tags_[i]);
      state -= first * leaving;
    }
  }

  struct Run {
    std::int64_t count, size;
  };

  // How many tokens from two ends of tokens on are alike, and how many bytes these take: those that end before the first
  // difference. There is one: a text and known text end with bytes of their own.
  Run common_run(Bytes text, Bytes known) const {
    Run run{0, 0};
    Word carry = 0;
    for (std::int64_t common = 0;; common += 64) {
      const Block block = Block::load(text + common);
      const Word unequal = block.unequal(Block::load(known + common)), tokens = ~block.equal(separator_);
      Word stops = ~tokens & (tokens << 1 | carry);
      carry = tokens >> 63;
      if (unequal) stops &= (unequal & -unequal) - 1;
      if (stops) {
        run.count += std::popcount(stops);
        run.size = common + 63 - std::countl_zero(stops);
      }
      if (unequal) return run;
    }
  }

  // Whether the shingle that ends at a place is the one of the tokens from `first` on.
  bool same(std::int64_t place, std::int64_t first) const {
    const Place* known = &room_->places[place - context_];
    Word unequal = 0;
    for (std::int64_t j = 0; j <= context_; j++)
      unequal |= (known[j].key.a ^ keys_[first + j].a) | (known[j].key.b ^ keys_[first + j].b);
    return !unequal;
  }

  void append(Bytes from, std::int64_t size) {
    std::memcpy(room_->text.data() + n_text_, from, size);
    n_text_ += size;
  }

  void end_segment() {
    if (!segment_) return;
    room_->places[n_places_ - 1].next = 0;
    room_->text[n_text_] = separator_;
    room_->text[n_text_ + 1] = SEGMENT_END;
    n_text_ += 2;
    segment_ = 0;
  }

  // Numbers the shingles of one text.
  template <class Sink>
  void walk(Bytes folded, std::int64_t length, Sink& sink) {
    context_ = width_ - 1;
    std::int64_t done = 0, last = 0, ahead = FEW;  // where the last token ends that has its number, its place in known text
    std::int64_t i = 0, n = 0;                     // of the tokens read ahead, the next one; and how many there are
    while (true) {
      std::int64_t found = 0, tail = done, next = std::int64_t(room_->places[last].next);
      if (next >= n_places_) next = 0;  // what comes there is not written yet
      const bool fresh = i == n;
      if (fresh) {
        i = last ? context_ : 0;
        n = read_tokens(folded, done, length, i, i + (next ? 1 : context_ - i + ahead));
        if (n == i) break;
      }
      if (next && room_->places[next].key == keys_[i]) {
        found = next;
        tail = ends_[i++];
      } else {
        if (fresh) {  // hashes of some tokens at once: what they need of the table is fetched meanwhile
          if (next) n = read_tokens(folded, ends_[i], length, n, context_ + ahead);
          if (last)
            for (std::int64_t j = 0; j < context_; j++) keys_[j] = room_->places[last - context_ + 1 + j].key;
          if (n < width_) keys_[n] = {0, 0}, ends_[n] = length, context_ = n++;
          hash_ahead(n);
          i = context_;
        }
        found = number_new(folded, done, last, i, n, tail, sink);
        if (!found) {
          ahead = std::min(2 * ahead, MANY);
          continue;
        }
      }
      // A known shingle: how far does what comes after it go on alike? Tokens count that end before a difference.
      room_->text[n_text_] = SEGMENT_END;
      const auto [count, size] = common_run(folded + tail, room_->text.data() + room_->places[found].end);
      const std::int64_t run = 1 + count, past = tail + size;
      __builtin_prefetch(&room_->places[found + run - 1]);
      const bool copies = segment_ && run <= SHORT;
      make_room_for(copies ? run : 0, copies ? past - done : 0);
      sink.add(found, run);
      i = std::min(i + run - 1, n);
      if (run > SHORT) ahead = FEW;
      if (copies) {
        const std::int64_t shift = n_text_ + (tail - done) - room_->places[found].end;
        append(folded + done, past - done);
        for (std::int64_t j = 0; j < run; j++, n_places_++) {
          const Place& place = room_->places[found + j];
          room_->places[n_places_] = {place.key, place.end + shift, std::uint64_t(n_places_ + 1)};
          room_->numbers[n_places_] = room_->numbers[found + j];
        }
        last = n_places_ - 1;
      } else {
        end_segment();
        if (last) room_->places[last].next = std::uint64_t(found);
        last = found + run - 1;
      }
      done = past;
    }
    end_segment();
  }

  // Numbers shingles that end with the tokens from `i` on till one is known; returns its place, or 0. `tail`: where it ends.
  template <class Sink>
  std::int64_t number_new(Bytes folded, std::int64_t& done, std::int64_t& last, std::int64_t& i, std::int64_t n,
                          std::int64_t& tail, Sink& sink) {
    room_->table.reserve(n_shingles_ + n - i);
    make_room_for(n - i + context_, ends_[n - 1] - done + 2);
    const std::int64_t shift = n_text_ - (segment_ ? done : ends_[i]);  // from bytes of the text to those of known text
    std::int64_t begin = done, found = 0, added = 0;
    while (i < n) {
      const std::int64_t first = i - context_;
      Tagged& entry = room_->table.find(tags_[first], [&](Tagged known) { return same(std::int64_t(known.number()), first); });
      tail = ends_[i++];
      found = std::int64_t(entry.number());
      if (found) break;
      if (!segment_) {
        if (last) room_->places[last].next = std::uint64_t(n_places_ + context_);
        for (std::int64_t j = 0; j < context_; j++) room_->places[n_places_++] = {keys_[first + j], 0, 0};
        segment_ = n_places_;
        begin = tail;
      }
      room_->places[n_places_] = {keys_[i - 1], tail + shift, std::uint64_t(n_places_ + 1)};
      room_->numbers[n_places_] = sink.number(n_places_);
      room_->fresh[n_places_ / 64] |= Word(1) << n_places_ % 64;
      n_shingles_++;
      added++;
      entry = {tags_[first], std::uint64_t(n_places_)};
      last = n_places_++;
      done = tail;
    }
    if (done > begin) append(folded + begin, done - begin);
    if (added) sink.add(n_places_ - added, added);
    return found;
  }

  const int unit_;
  const bool fold_case_;
  const std::int64_t width_;
  const std::uint8_t separator_;
  const std::vector<Word> points_;
  const Word secret_[4];
  Vector<Pair> keys_;  // of tokens read ahead; where these end; hashes of the shingles that begin there
  Vector<std::int64_t> ends_;
  Vector<Word> tags_;
  std::unique_ptr<Room> room_;
  std::int64_t n_places_;  // the first ones are of nothing: no shingle that is compared begins before
  std::int64_t n_shingles_ = 0, n_text_ = 0;
  std::int64_t context_ = 0;  // of the text that is read
  std::int64_t segment_ = 0;  // where the one begins that is being written, or 0
};

}  // namespace lookalike
