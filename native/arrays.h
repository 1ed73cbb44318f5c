// Arrays of NumPy as spans and tables, and growing arrays that become NumPy's.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace lookalike {

namespace nb = nanobind;
using Long = std::int64_t;

#if defined(LOOKALIKE_CHECKED)
inline void check(bool holds) {
  if (!holds) throw std::out_of_range("an index is beyond its array");
}
#else
inline void check(bool) {}
#endif

// A row of elements. A checked build looks at each index.
template <class T>
class Span {
 public:
  Span() = default;
  Span(T* begin, std::size_t size) : begin_(begin), size_(size) {}
  template <class Allocator>
  Span(std::vector<std::remove_const_t<T>, Allocator>& made) : begin_(made.data()), size_(made.size()) {}  // NOLINT
  operator Span<const T>() const { return {begin_, size_}; }  // NOLINT: what may be written may be read
  T& operator[](std::size_t i) const { return check(i < size_), begin_[i]; }
  Span part(std::size_t begin, std::size_t size) const {
    return check(begin <= size_ && size <= size_ - begin), Span{begin_ + begin, size};
  }
  Long size() const { return Long(size_); }
  T* begin() const { return begin_; }
  T* end() const { return begin_ + size_; }

 private:
  T* begin_ = nullptr;
  std::size_t size_ = 0;
};

using Longs = Span<const Long>;
using Data = Span<const std::uint8_t>;

// Rows of equal length, one after the other.
template <class T>
class Table {
 public:
  Table() = default;
  Table(T* begin, std::size_t rows, std::size_t columns) : begin_(begin), rows_(rows), columns_(columns) {}
  Span<T> operator[](std::size_t row) const { return check(row < rows_), Span<T>{begin_ + row * columns_, columns_}; }
  Long rows() const { return Long(rows_); }
  Long columns() const { return Long(columns_); }
  T* begin() const { return begin_; }

 private:
  T* begin_ = nullptr;
  std::size_t rows_ = 0, columns_ = 0;
};

// Memory that is not cleared before it is written, in huge pages where there are any: one of these is cleared, and found again
// by the processor, faster than the 512 small ones in its place.
template <class T>
struct Raw : std::allocator<T> {
  T* allocate(std::size_t n) {
    T* made = std::allocator<T>::allocate(n);
#if defined(MADV_HUGEPAGE)
    constexpr std::uintptr_t PAGE = 4096;
    const auto begin = (reinterpret_cast<std::uintptr_t>(made) + PAGE - 1) & ~(PAGE - 1);
    if (n * sizeof(T) >= 2 << 20) madvise(reinterpret_cast<void*>(begin), n * sizeof(T) - PAGE, MADV_HUGEPAGE);
#endif
    return made;
  }
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
};
// A growing array, which becomes one of NumPy when it is returned.
template <class T>
using Vector = std::vector<T, Raw<T>>;

// Sees to it that so many elements more fit, and at least as many again.
template <class T>
void make_room(Vector<T>& held, std::size_t more) {
  if (held.capacity() - held.size() < more) held.reserve(std::max(2 * held.capacity(), held.size() + more));
}

// Makes an array that long, or longer; returns where it begins.
template <class T>
T* grow(Vector<T>& held, Long size) {
  if (Long(held.size()) < size) held.resize(std::max(2 * held.size(), std::size_t(size)));
  return held.data();
}

// Shortens an array, which then takes at most twice the memory that it needs.
template <class T>
void cut_off(Vector<T>& made, std::size_t size) {
  made.resize(size);
  if (made.capacity() > 2 * size) made.shrink_to_fit();
}

// Its own `insert` copies elements one by one.
template <class T>
void append(Vector<T>& to, const T* begin, const T* end) {
  if (begin == end) return;
  const std::size_t size = to.size();
  to.resize(size + (end - begin));
  std::memcpy(to.data() + size, begin, (end - begin) * sizeof(T));
}

// A growing array of rows of so many elements.
template <class T>
struct Matrix {
  Vector<T> elements;
  std::size_t columns;
  Matrix(Vector<T> elements, std::size_t columns) : elements(std::move(elements)), columns(columns) {}
  Matrix(Long rows, std::size_t columns) : elements(rows * columns), columns(columns) {}
  T* begin() { return elements.data(); }
  Span<T> operator[](std::size_t row) { return Span<T>(elements).part(row * columns, columns); }
};

// A growing array that is not given away: Python may refer to it as long as it likes.
template <class T>
using Shared = std::shared_ptr<Vector<T>>;

// Empties a thread's array, or takes another where Python still refers to it: memory that is new each time costs the system
// more than the work on it.
template <class T>
Shared<T> used_again(Shared<T>& kept) {
  if (!kept || kept.use_count() > 1) kept = std::make_shared<Vector<T>>();
  std::atomic_thread_fence(std::memory_order_acquire);
  kept->clear();
  return kept;
}

// An array of NumPy over a vector, which what is held keeps there; of so many columns if that is not 0.
template <class Holder, class T>
nb::ndarray<nb::numpy, T> give(Holder* held, Vector<T>& elements, std::size_t columns = 0) {
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Holder*>(p); });
  const std::size_t size = elements.size(), shape[2] = {columns ? size / columns : size, columns};
  return nb::ndarray<nb::numpy, T>(elements.data(), columns ? 2 : 1, shape, owner);
}
template <class T>
auto give(Vector<T>&& made, std::size_t columns = 0) {
  auto* held = new Vector<T>(std::move(made));
  return give(held, *held, columns);
}
template <class T>
auto give(Matrix<T>&& made) {
  return give(std::move(made.elements), made.columns);
}
template <class T>
auto give(Shared<T>&& made) {
  auto* held = new Shared<T>(std::move(made));
  return give(held, **held);
}

// An array of Python that an object goes on holding, as a span or a table.
template <class T, int DIMENSIONS = 1>
struct Held : std::conditional_t<DIMENSIONS == 1, Span<T>, Table<T>> {
  using View = std::conditional_t<DIMENSIONS == 1, Span<T>, Table<T>>;
  using View::View;
  nb::ndarray<T, nb::ndim<DIMENSIONS>, nb::c_contig, nb::device::cpu> array;
};

// Lets Python call a function of spans, tables and numbers, without the interpreter's lock. Arrays must have just the declared
// types.
using Unlocked = nb::call_guard<nb::gil_scoped_release>;
template <class Function>
void define(nb::module_& m, const char* name, Function function) {
  m.def(name, function, Unlocked());
}

}  // namespace lookalike

namespace nanobind::detail {

// Takes an array as it is: one that would have to be converted is refused.
template <class Taken, class T, int DIMENSIONS>
struct array_taker {
  using Array = ndarray<T, ndim<DIMENSIONS>, c_contig, device::cpu>;
  NB_TYPE_CASTER(Taken, make_caster<Array>::Name)
  make_caster<Array> taken;

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!taken.from_python(source, flags & ~std::uint32_t(cast_flags::convert), cleanup)) return false;
    const Array& array = taken.value;
    if constexpr (DIMENSIONS == 1) value = {array.data(), array.shape(0)};
    else value = {array.data(), array.shape(0), array.shape(1)};
    if constexpr (requires { value.array; }) value.array = array;
    return true;
  }
};
template <class T>
struct type_caster<lookalike::Span<T>> : array_taker<lookalike::Span<T>, T, 1> {};
template <class T, int DIMENSIONS>
struct type_caster<lookalike::Held<T, DIMENSIONS>> : array_taker<lookalike::Held<T, DIMENSIONS>, T, DIMENSIONS> {};
template <class T>
struct type_caster<lookalike::Table<T>> : array_taker<lookalike::Table<T>, T, 2> {};

// Gives an array away.
template <class Given, class T>
struct array_giver {
  using Array = ndarray<numpy, T>;
  NB_TYPE_CASTER(Given, make_caster<Array>::Name)

  static handle from_cpp(Given&& given, rv_policy policy, cleanup_list* cleanup) {
    return make_caster<Array>::from_cpp(lookalike::give(std::move(given)), policy, cleanup);
  }
};
template <class T>
struct type_caster<lookalike::Vector<T>> : array_giver<lookalike::Vector<T>, T> {};
template <class T>
struct type_caster<lookalike::Shared<T>> : array_giver<lookalike::Shared<T>, T> {};
template <class T>
struct type_caster<lookalike::Matrix<T>> : array_giver<lookalike::Matrix<T>, T> {};

}  // namespace nanobind::detail
