// Text of web pages, of HTML and XHTML alike: a scanner of tags, and the rules of what is text, and main text. Pages take time
// in proportion to their size, whatever is in them: no place is looked at more than a few times.
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include "arrays.h"

namespace lookalike {
namespace {

using View = std::string_view;
constexpr std::size_t NONE = View::npos;

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_blank(char c) { return c != '\v' && is_space(c); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c & 0x80; }

// Tells whether a word in lower case stands at a place, in whatever case.
bool has(View text, std::size_t at, View word) {
  return at <= text.size() && text.size() - at >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin() + at, [](char a, char b) { return a == lower(b); });
}

std::size_t past_spaces(View text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) at++;
  return at;
}

View strip(View text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

Long count_characters(View text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

enum Unparsed { SCRIPT, STYLE, TITLE, TEXTAREA, XMP, NOSCRIPT, NOFRAMES, IFRAME, TEMPLATE, PARSED };
enum Role { PLAIN, MAIN, LEFT_OUT };  // as text/html.py numbers them
// What is left open takes the text up to the next tag, up to TITLE; the content is text, of TEXTAREA and XMP. In a template are
// tags, but it is inert; in the others nothing is a tag but their own end.
constexpr std::array<View, PARSED> UNPARSED{"script",   "style",    "title",  "textarea", "xmp",
                                            "noscript", "noframes", "iframe", "template"};
constexpr std::array<View, 15> BLOCKS{"article", "section", "main",   "blockquote", "aside", "footer", "nav", "div",
                                      "dl",      "form",    "header", "menu",       "ol",    "table",  "ul"};
constexpr int PARTS = 4, MAIN_BLOCK = 2, ASIDE = 4, FOOTER = 5, NAV = 6;  // so many blocks are parts of a text; some others
constexpr std::array<View, 5> GAPS{"", " ", "\t", "\n", "\n\n"};          // what parts texts
// The elements that part them so, and links.
constexpr std::array<View, 5> PARTING{
    "a", "button input select", "td th",
    "address article aside body br caption center dd details dialog dir div dt fieldset figcaption figure footer form "
    "frameset head header hgroup hr html legend li main menu nav optgroup option search section summary tbody textarea "
    "tfoot thead title tr",
    "blockquote dl h1 h2 h3 h4 h5 h6 listing ol p plaintext pre table ul xmp"};

struct Element {
  int gap = -1, block = -1, unparsed = PARSED;
};

std::unordered_map<View, Element> list_elements() {
  std::unordered_map<View, Element> found;
  for (int gap = 0; gap < int(PARTING.size()); gap++)
    for (std::size_t at = 0, end; at < PARTING[gap].size(); at = end + 1) {
      end = std::min(PARTING[gap].find(' ', at), PARTING[gap].size());
      found[PARTING[gap].substr(at, end - at)].gap = gap;
    }
  for (int i = 0; i < int(BLOCKS.size()); i++) found[BLOCKS[i]].block = i;
  for (int i = 0; i < PARSED; i++) found[UNPARSED[i]].unparsed = i;
  return found;
}

struct Tag {
  bool slash = false;  // whether it ends an element
  View name, attributes;
  Element element;

  void take_name(View full) {
    static const auto elements = list_elements();
    full.remove_prefix(full.rfind(':') + 1);  // of a namespace
    if (full.size() > sizeof lowered) return;
    std::transform(full.begin(), full.end(), lowered, lower);
    name = {lowered, full.size()};
    if (const auto found = elements.find(name); found != elements.end()) element = found->second;
  }
  // Tells whether the element ends where it begins, by a slash that is not part of a value.
  bool is_whole() const {
    if (attributes.empty() || attributes.back() != '/') return false;
    std::size_t at = attributes.size();
    for (; at && !is_space(attributes[at - 1]) && !is_quote(attributes[at - 1]); at--)
      if (attributes[at - 1] == '=') return false;
    while (at && is_space(attributes[at - 1])) at--;
    return !at || attributes[at - 1] != '=';
  }

 private:
  char lowered[16];
};

// Tells whether lower-case text stands anywhere in another, in whatever case.
bool contains(View text, View word) {
  for (std::size_t at = 0; at + word.size() <= text.size(); at++)
    if (has(text, at, word)) return true;
  return false;
}

class Scanner {
 public:
  explicit Scanner(View html) : html_(html), last_(html.rfind('>') + 1) {}

  // Calls `visit(text, encoded, tag)` for the text before each tag, and at the end, with whether it has references.
  template <class Visit>
  void scan(Visit visit) {
    std::size_t at = 0;
    for (std::size_t begin = 0; (begin = html_.find('<', begin)) < last_;) {
      Tag tag;
      const auto [end, mark] = tag_at(begin, tag);
      if (!end) {
        begin++;
        continue;
      }
      visit(html_.substr(at, begin - at), true, tag);
      at = end;
      if (mark) {
        const auto [stop, next] = mark == COMMENT ? end_of_comment(end - 2) : end_of_data(end);
        if (stop == NONE) {
          endless_ |= mark;
        } else {
          if (mark == DATA) visit(html_.substr(end, stop - end), false, Tag{});
          at = next;
        }
      } else if (tag.element.unparsed != PARSED && !tag.slash) {
        const auto [stop, next] = content_of(tag, end);
        at = next;
        if (tag.element.unparsed == TEXTAREA || tag.element.unparsed == XMP)
          visit(html_.substr(end, stop - end), tag.element.unparsed == TEXTAREA, Tag{});
      }
      begin = at;
    }
    visit(html_.substr(at), true, Tag{});
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;
  enum Mark { NO_MARK, COMMENT = 1 << PARSED, DATA = 2 << PARSED };

  // Reads what begins with "<"; returns where it ends, 0 if it is no tag, and whether it begins a comment or the like.
  std::pair<std::size_t, int> tag_at(std::size_t begin, Tag& tag) {
    std::size_t at = begin + 1;
    const bool slash = html_[at] == '/';
    if (is_letter(html_[at + slash])) {
      const std::size_t name = at + slash;
      for (at = name; !is_space(html_[at]) && html_[at] != '/' && html_[at] != '>';) at++;
      tag.slash = slash;
      tag.take_name(html_.substr(name, at - name));
      const std::size_t from = at;
      while (html_[at] != '>') {
        if (html_[at++] != '=') continue;
        at = past_spaces(html_, at);
        if (!is_quote(html_[at])) continue;
        const std::size_t closing = html_.find(html_[at], at + 1);  // a value in quotes may have a ">"
        if (closing < last_) at = closing + 1;
      }
      tag.attributes = html_.substr(from, at - from);
      return {at + 1, NO_MARK};
    }
    if (has(html_, at, "!--")) return {at + 3, COMMENT};
    if (has(html_, at, "![cdata[")) return {at + 8, DATA};
    if (html_[at] != '!' && html_[at] != '?' && !slash) return {0, NO_MARK};
    std::size_t end = has(html_, at, "!doctype") ? end_of_doctype(at + 8) : 0;
    return {end ? end : html_.find('>', at + 1) + 1, NO_MARK};
  }

  // Returns where a type of document ends that has declarations in brackets, or 0.
  std::size_t end_of_doctype(std::size_t at) {
    at = html_.find_first_of("[>", at);
    if (html_[at] != '[') return 0;
    if (bracket_ <= at) {
      bracket_ = html_.find(']', at + 1);
      const std::size_t end = bracket_ == NONE ? NONE : past_spaces(html_, bracket_ + 1);
      bracketed_ = end < last_ && html_[end] == '>' ? end + 1 : 0;
    }
    return bracketed_;
  }

  Place end_of_comment(std::size_t at) const {
    for (; !(endless_ & COMMENT) && (at = html_.find("--", at)) != NONE; at++) {
      const std::size_t end = at + 2 + (html_.substr(at + 2, 1) == "!");
      if (html_.substr(end, 1) == ">") return {at, end + 1};
    }
    return {NONE, NONE};
  }

  Place end_of_data(std::size_t at) const {
    const std::size_t stop = endless_ & DATA ? NONE : html_.find("]]>", at);
    return {stop, stop + 3};
  }

  // Finds the next tag that begins or ends an element by name: where, and whether it ends it.
  std::pair<std::size_t, bool> find_tag(View name, std::size_t from) const {
    const auto ends = [this](std::size_t at) {
      return at < html_.size() && (is_space(html_[at]) || html_[at] == '/' || html_[at] == '>');
    };
    for (; (from = html_.find('<', from)) != NONE; from++) {
      const bool slash = has(html_, from + 1, "/");
      std::size_t at = from + 1 + slash;
      if (has(html_, at, name) && ends(at + name.size())) return {from, slash};
      const std::size_t prefix = at;
      while (at < html_.size() && (is_word(html_[at]) || html_[at] == '.' || html_[at] == '-')) at++;
      if (at > prefix && has(html_, at, ":") && has(html_, at + 1, name) && ends(at + 1 + name.size())) return {from, slash};
    }
    return {NONE, false};
  }

  // Tells whether what follows a script that is left open is no code, but the page.
  bool is_page(View text) const {
    const auto after = [text](std::size_t at) { return at + 1 + has(text, at + 1, "/"); };
    std::size_t at = past_spaces(text, 0);
    if (has(text, at, "<") && after(at) < text.size() && is_letter(text[after(at)])) return true;
    for (at = 0; (at = text.find('<', at)) != NONE; at++)
      for (const View name : {View("head"), View("body")}) {
        const std::size_t end = after(at) + name.size();
        if (has(text, after(at), name) && (end == text.size() || !is_word(text[end]))) return true;
      }
    return false;
  }

  // Returns where a tag or a comment begins, as strict readers see them, or the end.
  std::size_t next_tag(std::size_t from) const {
    for (; (from = html_.find('<', from)) != NONE; from++) {
      std::size_t at = from + 1 + has(html_, from + 1, "/");
      if (has(html_, from, "<!--")) return from;
      if (at >= html_.size() || !is_letter(html_[at])) continue;
      while (at < html_.size() && (is_word(html_[at]) || html_[at] == ':' || html_[at] == '-')) at++;
      if (at < html_.size() && is_space(html_[at])) at = std::min(html_.find_first_of("<>", at), html_.size());
      if (has(html_, at, "/")) at++;
      if (has(html_, at, ">")) return from;
    }
    return html_.size();
  }

  // Returns where the content of an element ends in which nothing is a tag, and where to read on. One that lacks its end, or is
  // closed by the slash in its own tag, has no content but, if it is left open, code.
  Place content_of(const Tag& tag, std::size_t at) {
    const int kind = tag.element.unparsed;
    if (contains(tag.attributes, "shadowroot")) return {at, at};  // a template that is shown
    const bool whole = tag.is_whole();
    auto [found, ends] = endless_ & 1 << kind ? std::pair(NONE, false) : find_tag(UNPARSED[kind], at);
    if (kind == SCRIPT && found != NONE && !ends && !whole && !is_page(html_.substr(at, found - at)))
      while (found != NONE && !ends) std::tie(found, ends) = find_tag(UNPARSED[kind], found + 1);  // code that writes tags
    if (ends) return {found, found};
    if (found == NONE) endless_ |= 1 << kind;
    if (kind > TITLE || whole || contains(tag.attributes, "src")) return {at, at};
    return {at, next_tag(at)};
  }

  const View html_;
  const std::size_t last_;  // behind the last ">": what follows is text
  unsigned endless_ = 0;    // of what there is no end any more
  std::size_t bracket_ = 0, bracketed_ = 0;
};

// Calls a function of Python with a part of a page.
template <class Answer>
Answer ask(const nb::callable& function, View about) {
  nb::gil_scoped_acquire locked;
  const nb::object answer = function(nb::bytes(about.data(), about.size()));
  if constexpr (std::is_same_v<Answer, std::string>) {
    const auto made = nb::cast<nb::bytes>(answer);
    return {made.c_str(), made.size()};
  } else {
    return nb::cast<Answer>(answer);
  }
}

// Decodes references to characters, each as a function of Python does.
class References {
 public:
  explicit References(const nb::callable& decode) : decode_(decode) {}

  // The result stands till the next call.
  View decode(View text) {
    std::size_t next = text.find('&'), at = 0;
    if (next == NONE) return text;
    made_.clear();
    for (; next != NONE; next = text.find('&', at)) {
      made_ += text.substr(at, next - at);
      at = end_of_reference(text, next + 1);
      made_ += at == next + 1 ? View("&") : of(text.substr(next, at - next));
    }
    return made_ += text.substr(at);
  }

 private:
  static std::size_t end_of_reference(View text, std::size_t begin) {
    const auto skip = [text](std::size_t at, auto is) {
      while (at < text.size() && is(text[at])) at++;
      return at;
    };
    std::size_t at = begin;
    if (has(text, at, "#")) {
      const bool hex = has(text, at + 1, "x");
      at += 1 + hex;
      const std::size_t digits = at;
      at = skip(at, [hex](char c) { return is_digit(c) || (hex && lower(c) >= 'a' && lower(c) <= 'f'); });
      if (at == digits) return begin;
    } else {
      constexpr int LONGEST = 32;
      at = skip(
          at, [n = 0](char c) mutable { return (c & 0xC0) == 0x80 || (View("\t\n\f <&#;").find(c) == NONE && n++ < LONGEST); });
      if (at == begin) return begin;
    }
    return at + has(text, at, ";");
  }

  const std::string& of(View reference) {
    constexpr std::size_t MOST = 4096;
    if (known_.size() > MOST) known_.clear();
    const auto [found, is_new] = known_.try_emplace(std::string(reference));
    if (is_new) found->second = ask<std::string>(decode_, reference);
    return found->second;
  }

  const nb::callable& decode_;
  std::string made_;
  std::unordered_map<std::string, std::string> known_;
};

// The text of a page, and which of it is main text.
class Page {
 public:
  Page(const nb::callable& decode, const nb::callable& role_of, const nb::callable& is_menu)
      : references_(decode), role_of_(role_of), is_menu_(is_menu) {}

  // Reads a page; tells whether all text was taken for lack of main text, which is wanted unless boilerplate is, too.
  bool read(View html, bool boilerplate) {
    if (html.find('<') == NONE) return text = references_.decode(html), false;
    Scanner(html).scan(
        [this](View piece, bool encoded, const Tag& tag) { add(encoded ? references_.decode(piece) : piece, tag); });
    const View every = strip(out_);
    if (!boilerplate) {
      constexpr Long LITTLE = 5, MUCH = 300;  // times as much text as the main text, and characters, that make this suspicious
      const std::string pieces = main_text();
      const View main = strip(pieces);
      if (main.empty() || size_ - linked_ + beside_ > std::max(MUCH, LITTLE * count_characters(main)))
        return text = every, every != main;
      text = main;
    } else {
      text = every;
    }
    return false;
  }

  std::string text;

 private:
  struct Block {
    int name;
    int role;
    View attributes;
    std::size_t begin;
    Long size, linked;  // what there was before
  };
  using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;

  void add(View piece, const Tag& tag) {
    if (const View words = pre_ ? piece : strip(piece); !words.empty()) {
      if (!gap_ && !pre_ && is_blank(piece.front())) gap_ = 1;
      if (!out_.empty()) out_ += GAPS[gap_];
      const std::size_t begin = out_.size();
      if (pre_) {
        out_ += words;
      } else {
        out_.resize(begin + words.size());
        char* to = out_.data() + begin;
        for (char c : words)
          if (!is_blank(c)) *to++ = c;
          else if (to[-1] != ' ') *to++ = ' ';
        out_.resize(to - out_.data());
      }
      gap_ = !pre_ && is_blank(piece.back());
      const Long n = count_characters(View(out_).substr(begin));
      size_ += n;
      if (link_) linked_ += n;
    } else if (!piece.empty() && !gap_) {
      gap_ = 1;
    }
    if (tag.element.gap < 0) return;
    gap_ = std::max(gap_, tag.element.gap);
    if (tag.name == "a") {
      link_ = !tag.slash && tag.attributes.find("href") != NONE;
    } else if (tag.element.block >= 0) {
      if (tag.slash) end_block(tag.element.block);
      else if (!tag.is_whole()) begin_block(tag.element.block, tag.attributes);
    } else if (tag.name == "pre" || tag.name == "listing") {
      pre_ = !tag.slash && !tag.is_whole();
    }
  }

  void begin_block(int name, View attributes) {
    int role = contains(attributes, "role") ? ask<int>(role_of_, attributes) : PLAIN;
    if (!role && (name == MAIN_BLOCK || name == NAV)) role = name == NAV ? LEFT_OUT : MAIN;
    if (!role && name == FOOTER && std::all_of(opened_, opened_ + PARTS, [](Long n) { return !n; }))
      role = LEFT_OUT;  // of the page
    open_.push_back({name, role, attributes, out_.size(), size_, linked_});
    opened_[name]++;
  }

  // Ends the innermost block of a name, and what was left open in it, which is not left out.
  void end_block(int name) {
    for (bool found = false; !found && opened_[name];) {
      const Block block = open_.back();
      open_.pop_back();
      opened_[block.name]--;
      found = block.name == name;
      if (block.role == MAIN) {
        put(mains_, block.begin);
      } else if (found && (mains_.empty() || mains_.back().first < block.begin)) {
        const bool links = 2 * (linked_ - block.linked) > size_ - block.size;
        if (block.role == LEFT_OUT || (links && (name == ASIDE || name == FOOTER || ask<bool>(is_menu_, block.attributes)))) {
          put(left_, block.begin);
          beside_ += (size_ - block.size) - (linked_ - block.linked);
          size_ = block.size, linked_ = block.linked;  // so that what is around it is judged by the rest
        }
      }
    }
  }

  // Adds what begins there, in place of what is within it.
  void put(Ranges& ranges, std::size_t begin) {
    while (!ranges.empty() && ranges.back().first >= begin) ranges.pop_back();
    ranges.emplace_back(begin, out_.size());
  }

  // Returns what is in the elements that hold the main text, or else all, without what is left out.
  std::string main_text() {
    for (auto block = open_.rbegin(); block != open_.rend(); block++)
      if (block->role == MAIN) put(mains_, block->begin);
    if (mains_.empty()) mains_.emplace_back(0, out_.size());
    std::string found;
    auto left = left_.begin();
    for (auto [begin, end] : mains_) {
      for (; left != left_.end() && left->first < end; left++)
        if (left->first >= begin) {
          found.append(out_, begin, left->first - begin);
          begin = left->second;
        }
      if (begin < end) found.append(out_, begin, end - begin);
    }
    return found;
  }

  References references_;
  const nb::callable &role_of_, &is_menu_;
  std::string out_;
  Long size_ = 0, linked_ = 0, beside_ = 0;  // characters, those in links, and those that are left out and in none
  int gap_ = 0;
  bool pre_ = false, link_ = false;
  std::vector<Block> open_;
  Long opened_[BLOCKS.size()] = {};
  Ranges mains_, left_;
};

// Returns the text of a page, and whether that is all of it for lack of main text, which was asked for.
std::pair<nb::bytes, bool> read_page(nb::bytes html, bool boilerplate, nb::callable decode, nb::callable role_of,
                                     nb::callable is_menu) {
  Page page(decode, role_of, is_menu);
  bool for_lack;
  {
    nb::gil_scoped_release unlocked;
    for_lack = page.read({html.c_str(), html.size()}, boilerplate);
  }
  return {nb::bytes(page.text.data(), page.text.size()), for_lack};
}

// Returns the attributes, as they stand, of elements that describe a page.
std::vector<nb::bytes> list_metas(nb::bytes html) {
  std::vector<nb::bytes> found;
  Scanner({html.c_str(), html.size()}).scan([&found](View, bool, const Tag& tag) {
    if (tag.name == "meta") found.emplace_back(tag.attributes.data(), tag.attributes.size());
  });
  return found;
}

}  // namespace

void define_pages(nb::module_& m) {
  m.def("read_page", &read_page);
  m.def("list_metas", &list_metas);
}

}  // namespace lookalike
