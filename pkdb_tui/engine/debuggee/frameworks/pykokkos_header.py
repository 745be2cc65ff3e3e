"""The C++ that every debug build of a PyKokkos kernel includes first: its team table, and Python's arithmetic."""

from pkdb_tui.engine.debuggee.frameworks import lost_debugger

NAME = "pkdb_debug.hpp"
TEAM = "pk_team"  # struct { int size; int tid[]; }, which gdb reads
FILL = "pk_team_fill"  # fills it for a launch in an execution space

TEXT = r"""#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <omp.h>
#include <sys/syscall.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
extern "C" {
__attribute__((visibility("hidden"))) struct { int size; int tid[1024]; } pk_team;
// Kokkos' OpenMP regions use the pool that this region of the same thread uses, in the same order.
__attribute__((visibility("default"), used)) void pk_team_fill(int parallel) {
  int threads = parallel ? std::min(omp_get_max_threads(), 1024) : 1;
  pk_team.size = threads;
#pragma omp parallel num_threads(threads)
  pk_team.tid[omp_get_thread_num()] = static_cast<int>(syscall(SYS_gettid));
}
}
namespace pkdb {
struct Fault {
  char why[120];
  explicit Fault(const char* text) { std::snprintf(why, sizeof why, "%s", text); }
  Fault(const char* name, long long i, int d, long long extent) {
    std::snprintf(why, sizeof why, "%s index %lld in dimension %d, extent %lld", name, i, d, extent);
  }
};
// A condition that fails holds, and says why where the native debugger looks for it.
struct Condition {
  char pk_why[120] = "";
  template <class F> bool holds(F f) {
    try { return f(); } catch (const Fault& fault) { std::snprintf(pk_why, sizeof pk_why, "%s", fault.why); }
    return true;
  }
};
// All conditions of a line, evaluated as a thread comes to it: it passes one place where any of them holds.
template <int N> struct Conditions {
  bool pk_met = false;
  bool pk_held[N] = {};
  Condition pk_each[N];
  template <class... F> bool hold(F... tests) {
    int number = 0;
    ((pk_held[number] = pk_each[number].holds(tests), pk_met |= pk_held[number], ++number), ...);
    return pk_met;
  }
};
template <class T> auto num(const T& v) {
  if constexpr (std::is_same_v<T, bool>) return v;
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return static_cast<long long>(v);
  else if constexpr (std::is_floating_point_v<T>) return static_cast<double>(v);
  else return v;
}
template <class T> bool truth(const T& v) { return v != T(); }
template <class A, class B> auto floordiv(A a, B b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    long long x = a, y = b;
    if (y == 0) throw Fault("division by zero");
    long long q = x / y;
    return (x % y != 0 && (x < 0) != (y < 0)) ? q - 1 : q;
  } else return std::floor(double(a) / double(b));
}
template <class A, class B> auto mod(A a, B b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    long long x = a, y = b;
    if (y == 0) throw Fault("division by zero");
    long long r = x % y;
    return (r != 0 && (r < 0) != (y < 0)) ? r + y : r;
  } else {
    double r = std::fmod(double(a), double(b));
    return (r != 0 && (r < 0) != (double(b) < 0)) ? r + double(b) : r;
  }
}
template <class A, class B> auto power(A a, B b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    long long r = 1;
    for (long long n = b; n > 0; --n) r *= a;
    return b < 0 ? static_cast<long long>(std::pow(double(a), double(b))) : r;
  } else return std::pow(double(a), double(b));
}
template <class A> auto abs(A a) {
  if constexpr (std::is_same_v<A, bool>) return static_cast<long long>(a);
  else if constexpr (std::is_arithmetic_v<A>) return a < 0 ? -a : a;
  else return std::hypot(double(a.real()), double(a.imag()));
}
template <class A, class B> auto least(A a, B b) { using T = std::common_type_t<A, B>; return std::min<T>(a, b); }
template <class A, class B> auto most(A a, B b) { using T = std::common_type_t<A, B>; return std::max<T>(a, b); }
inline long long place(const char* name, long long i, long long extent, int d = 0) {
  if (i < -extent || i >= extent) throw Fault(name, i, d, extent);
  return i < 0 ? i + extent : i;
}
template <class T, std::size_t N> T at(const char* name, const T (&list)[N], long long i) {
  return list[place(name, i, N)];
}
template <class V, std::size_t... D> auto element(const V& v, const long long* i, std::index_sequence<D...>) {
  return static_cast<typename V::non_const_value_type>(v(i[D]...));
}
template <class V, class... I, class = typename V::non_const_value_type> auto at(const char* name, const V& v, I... i) {
  static_assert(sizeof...(I) == std::size_t(V::rank), "one index for each dimension is needed");
  long long index[] = {static_cast<long long>(i)...};
  for (int d = 0; d < int(sizeof...(I)); ++d) {
    index[d] = place(name, index[d], static_cast<long long>(v.extent(d)), d);
  }
  return element(v, index, std::make_index_sequence<sizeof...(I)>());
}
}
"""
TEXT += lost_debugger.TEXT
