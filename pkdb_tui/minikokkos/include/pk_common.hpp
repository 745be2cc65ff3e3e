// What kernels on the host and on devices share: views, reductions, boxes of indices.
// Before it: PK_BOTH, what marks a function that kernels call; with PK_CHECKS pk_bad_index and pk_nowhere.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace pk {

using longdouble = long double;  // a name of one word, as casts need

template <class T, int R> struct View {
    T* data;
    int64_t extent[R];
    int64_t stride[R];
    const char* label;

    template <class... I> PK_BOTH inline T& operator()(I... index) const {
        const int64_t at[] = {int64_t(index)...};
        int64_t offset = 0;
        for (int d = 0; d < R; ++d) {
#ifdef PK_CHECKS
            if ((at[d] < 0 || at[d] >= extent[d]) && PK_CHECKS) {
                pk_bad_index(label, d, at[d], extent[d]);
                return pk_nowhere<T>();
            }
#endif
            offset += at[d] * stride[d];
        }
        return data[offset];
    }

    // The view with dimension D fixed at an index.
    template <int D> PK_BOTH inline View<T, (R > 1 ? R - 1 : 1)> drop(int64_t index) const {
        View<T, (R > 1 ? R - 1 : 1)> part;
        part.label = label;
#ifdef PK_CHECKS
        if ((index < 0 || index >= extent[D]) && PK_CHECKS) {
            pk_bad_index(label, D, index, extent[D]);
            index = 0;
        }
#endif
        part.data = data + index * stride[D];
        for (int d = 0, e = 0; d < R; ++d)
            if (d != D) { part.extent[e] = extent[d]; part.stride[e] = stride[d]; ++e; }
        return part;
    }

    // Dimension D restricted to [begin, end) in steps; a negative bound counts from the end, one beyond it is cut.
    template <int D> PK_BOTH inline View<T, R> slice(int64_t begin, int64_t end, int64_t step) const {
        View<T, R> part = *this;
        if (begin < 0) begin += extent[D];
        if (end < 0) end += extent[D];
        begin = begin < 0 ? 0 : begin > extent[D] ? extent[D] : begin;
        end = end < begin ? begin : end > extent[D] ? extent[D] : end;
        part.data = data + begin * stride[D];
        part.extent[D] = (end - begin + step - 1) / step;
        part.stride[D] = stride[D] * step;
        return part;
    }

    PK_BOTH inline int64_t size() const { int64_t n = 1; for (int d = 0; d < R; ++d) n *= extent[d]; return n; }
};

// The same, its last dimension known to be contiguous: optimised builds only.
template <class T, int R> struct Dense : View<T, R> {
    template <class... I> PK_BOTH inline T& operator()(I... index) const {
        const int64_t at[] = {int64_t(index)...};
        int64_t offset = at[R - 1];
        for (int d = 0; d < R - 1; ++d) offset += at[d] * this->stride[d];
        return this->data[offset];
    }
};

template <class T, int R> PK_BOTH inline View<T, R> view_from(const int64_t*& a, const char* label) {
    View<T, R> v;
    v.data = reinterpret_cast<T*>(*a++);
    for (int d = 0; d < R; ++d) v.extent[d] = *a++;
    for (int d = 0; d < R; ++d) v.stride[d] = *a++ / int64_t(sizeof(T));
    v.label = label;
    return v;
}

template <class T> PK_BOTH inline T scalar_from(const int64_t*& a) {
    T value;
    std::memcpy(&value, a, sizeof(T));
    a += (sizeof(T) + 7) / 8;
    return value;
}

template <class A, class B> PK_BOTH inline auto min(A a, B b) -> decltype(a + b) { return b < a ? b : a; }
template <class A, class B> PK_BOTH inline auto max(A a, B b) -> decltype(a + b) { return a < b ? b : a; }
template <class T> PK_BOTH inline T abs(T a) { return a < T(0) ? -a : a; }

template <class T> PK_BOTH inline T pk_highest() { return T(std::is_floating_point<T>::value ? T(HUGE_VAL) : std::numeric_limits<T>::max()); }
template <class T> PK_BOTH inline T pk_lowest() { return T(std::is_floating_point<T>::value ? T(-HUGE_VAL) : std::numeric_limits<T>::lowest()); }

// Walks a box of indices, the last fastest, from a linear position.
template <int R> struct Odometer {
    const int64_t *low, *high;
    int64_t at[R];
    PK_BOTH Odometer(const int64_t* l, const int64_t* h, int64_t k) : low(l), high(h) {
        for (int d = R - 1; d >= 0; --d) {
            const int64_t n = high[d] - low[d];
            at[d] = low[d] + (n > 0 ? k % n : 0);
            if (n > 0) k /= n;
        }
    }
    PK_BOTH int64_t operator[](int d) const { return at[d]; }
    PK_BOTH void next() {
        for (int d = R - 1; d >= 0; --d) {
            if (++at[d] < high[d]) return;
            at[d] = low[d];
        }
    }
};

struct Sum {
    template <class T> PK_BOTH static T none() { return T(0); }
    template <class T> PK_BOTH static T join(T a, T b) { return T(a + b); }
};
struct Min {
    template <class T> PK_BOTH static T none() { return pk_highest<T>(); }
    template <class T> PK_BOTH static T join(T a, T b) { return b < a ? b : a; }
};
struct Max {
    template <class T> PK_BOTH static T none() { return pk_lowest<T>(); }
    template <class T> PK_BOTH static T join(T a, T b) { return a < b ? b : a; }
};

}  // namespace pk
