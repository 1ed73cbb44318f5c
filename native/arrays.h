// Arrays of NumPy as spans and tables, and growing arrays that become NumPy's.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lookalike {

namespace nb = nanobind;

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
  std::int64_t size() const { return std::int64_t(size_); }
  T* begin() const { return begin_; }
  T* end() const { return begin_ + size_; }

 private:
  T* begin_ = nullptr;
  std::size_t size_ = 0;
};

// Rows of equal length, one after the other.
template <class T>
class Table {
 public:
  Table() = default;
  Table(T* begin, std::size_t rows, std::size_t columns) : begin_(begin), rows_(rows), columns_(columns) {}
  Span<T> operator[](std::size_t row) const { return check(row < rows_), Span<T>{begin_ + row * columns_, columns_}; }
  std::int64_t rows() const { return std::int64_t(rows_); }
  std::int64_t columns() const { return std::int64_t(columns_); }
  T* begin() const { return begin_; }

 private:
  T* begin_ = nullptr;
  std::size_t rows_ = 0, columns_ = 0;
};

// Memory that is not cleared before it is written; large parts of it in huge pages, as NumPy has its own: most of the time of
// an array that is new is that of its pages.
template <class T>
struct Raw : std::allocator<T> {
  T* allocate(std::size_t n) {
    T* made = std::allocator<T>::allocate(n);
#if defined(__linux__)
    constexpr std::size_t PAGE = 4096, LARGE = 4 << 20;
    if (const std::size_t size = n * sizeof(T); size >= LARGE) {
      const std::size_t before = PAGE - reinterpret_cast<std::uintptr_t>(made) % PAGE;
      madvise(reinterpret_cast<char*>(made) + before, size - before, MADV_HUGEPAGE);
    }
#endif
    return made;
  }
  template <class U> struct rebind { using other = Raw<U>; };
  template <class U> void construct(U* at) noexcept { ::new (static_cast<void*>(at)) U; }
  template <class U, class... Of> void construct(U* at, Of&&... of) {
    ::new (static_cast<void*>(at)) U(std::forward<Of>(of)...);
  }
};
// A growing array, which becomes one of NumPy when it is returned.
template <class T> using Vector = std::vector<T, Raw<T>>;

// Shortens an array, which then takes at most twice the memory that it needs.
template <class T>
void cut_off(Vector<T>& made, std::size_t size) {
  made.resize(size);
  if (made.capacity() > 2 * size) made.shrink_to_fit();
}

// The same with rows of so many elements.
template <class T>
struct Matrix {
  Vector<T> elements;
  std::size_t columns;
};

template <class T>
nb::ndarray<nb::numpy, T> give(Vector<T>&& made, std::size_t columns = 0) {
  auto* held = new Vector<T>(std::move(made));
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Vector<T>*>(p); });
  const std::size_t shape[2] = {columns ? held->size() / columns : held->size(), columns};
  return nb::ndarray<nb::numpy, T>(held->data(), columns ? 2 : 1, shape, owner);
}

// Lets Python call a function of spans, tables and numbers, without the interpreter's lock. Arrays must have just the declared
// types.
template <class Function>
void define(nb::module_& m, const char* name, Function function) {
  m.def(name, function, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace lookalike

namespace nanobind::detail {

template <class T>
struct type_caster<lookalike::Span<T>> {
  using Held = ndarray<T, ndim<1>, c_contig, device::cpu>;
  NB_TYPE_CASTER(lookalike::Span<T>, make_caster<Held>::Name)
  make_caster<Held> held;

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!held.from_python(source, flags & ~std::uint32_t(cast_flags::convert), cleanup)) return false;
    value = {held.value.data(), held.value.shape(0)};
    return true;
  }
};

template <class T>
struct type_caster<lookalike::Table<T>> {
  using Held = ndarray<T, ndim<2>, c_contig, device::cpu>;
  NB_TYPE_CASTER(lookalike::Table<T>, make_caster<Held>::Name)
  make_caster<Held> held;

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!held.from_python(source, flags & ~std::uint32_t(cast_flags::convert), cleanup)) return false;
    value = {held.value.data(), held.value.shape(0), held.value.shape(1)};
    return true;
  }
};

template <class T>
struct type_caster<std::vector<T, lookalike::Raw<T>>> {
  using Given = ndarray<numpy, T>;
  using Made = lookalike::Vector<T>;
  NB_TYPE_CASTER(Made, make_caster<Given>::Name)
  static handle from_cpp(Made&& made, rv_policy policy, cleanup_list* cleanup) {
    return make_caster<Given>::from_cpp(lookalike::give(std::move(made)), policy, cleanup);
  }
};

template <class T>
struct type_caster<lookalike::Matrix<T>> {
  using Given = ndarray<numpy, T>;
  NB_TYPE_CASTER(lookalike::Matrix<T>, make_caster<Given>::Name)
  static handle from_cpp(lookalike::Matrix<T>&& made, rv_policy policy, cleanup_list* cleanup) {
    return make_caster<Given>::from_cpp(lookalike::give(std::move(made.elements), made.columns), policy, cleanup);
  }
};

}  // namespace nanobind::detail
