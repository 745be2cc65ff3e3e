// Arrays whose elements aren't as the processor takes them: anywhere in memory, in the other byte order, in records.
#pragma once

namespace pk {

// What is in the machine's byte order, at any address.
template <class T> struct Unaligned {
    using value = T;
    static constexpr int size = sizeof(T);
    static constexpr bool record = false;
    static T get(const unsigned char* at) {
        T found;
        std::memcpy(&found, at, sizeof found);
        return found;
    }
    static void set(unsigned char* at, T given) { std::memcpy(at, &given, sizeof given); }
};

// How many bytes are turned round together: each part of a complex number by itself.
template <class T> struct Piece { static constexpr int size = sizeof(T); };
#ifdef PK_COMPLEX
template <class T> struct Piece<std::complex<T>> { static constexpr int size = sizeof(T); };
#endif

// What is in the other byte order, at any address.
template <class T> struct Swapped {
    using value = T;
    static constexpr int size = sizeof(T);
    static constexpr bool record = false;
    static void turn(const unsigned char* from, unsigned char* to) {
        constexpr int part = Piece<T>::size;
        for (int k = 0; k < size; ++k) to[k / part * part + part - 1 - k % part] = from[k];
    }
    static T get(const unsigned char* at) {
        T found;
        unsigned char bytes[size];
        turn(at, bytes);
        std::memcpy(&found, bytes, size);
        return found;
    }
    static void set(unsigned char* at, T given) {
        unsigned char bytes[size];
        std::memcpy(bytes, &given, size);
        turn(bytes, at);
    }
};

// A record of so many bytes; the tag keeps those with other fields apart.
template <int Size, unsigned Tag> struct Record {
    static constexpr int size = Size;
    static constexpr bool record = true;
};

// The place of an element: what is assigned to it goes back in the array's own form.
template <class E> struct Ref {
    using T = typename E::value;
    unsigned char* at;

    operator T() const { return E::get(at); }
    const Ref& operator=(T value) const {
        E::set(at, value);
        return *this;
    }
    const Ref& operator=(const Ref& other) const { return *this = T(other); }
#define PK_CHANGE(sign) \
    template <class V> const Ref& operator sign##=(V value) const { return *this = T(E::get(at) sign value); }
    PK_CHANGE(+)
    PK_CHANGE(-)
    PK_CHANGE(*)
    PK_CHANGE(/)
    PK_CHANGE(&)
    PK_CHANGE(|)
    PK_CHANGE(^)
    PK_CHANGE(<<)
    PK_CHANGE(>>)
#undef PK_CHANGE
};

// As View, with strides in bytes; one record is such a view of no dimension.
template <class E, int R> struct Loose {
    unsigned char* data;
    int64_t extent[R ? R : 1];
    int64_t stride[R ? R : 1];
    const char* label;
    const char* dtype;  // of records, as numpy reads it

    template <class... I> unsigned char* at(I... index) const {
        const int64_t places[sizeof...(I) + 1] = {int64_t(index)...};
        int64_t offset = 0;
        for (int d = 0; d < R; ++d) {
#ifdef PK_CHECKS
            if ((places[d] < 0 || places[d] >= extent[d]) && PK_CHECKS) {
                pk_bad_index(label, d, places[d], extent[d]);
                static thread_local unsigned char pk_dummy[E::size];
                std::memset(pk_dummy, 0, E::size);
                return pk_dummy;
            }
#endif
            offset += places[d] * stride[d];
        }
        return data + offset;
    }
    template <class... I> auto operator()(I... index) const {
        if constexpr (E::record)
            return Loose<E, 0>{at(index...), {0}, {0}, label, dtype};
        else
            return Ref<E>{at(index...)};
    }
    template <class... I> auto get(I... index) const { return E::get(at(index...)); }

    // One record's fields become another's of the same type.
    void copy(const Loose& other) const { std::memmove(data, other.data, E::size); }

    // A field of each record: `extents` are those of an array in it.
    template <class F, class... N> Loose<F, R + int(sizeof...(N))> field(int64_t offset, const char* text, N... extents) const {
        constexpr int S = sizeof...(N);
        const int64_t sizes[S + 1] = {int64_t(extents)...};
        Loose<F, R + S> part;
        part.data = data + offset;
        part.label = label;
        part.dtype = text;
        for (int d = 0; d < R; ++d) { part.extent[d] = extent[d]; part.stride[d] = stride[d]; }
        for (int64_t d = S - 1, step = F::size; d >= 0; step *= sizes[d--]) {
            part.extent[R + d] = sizes[d];
            part.stride[R + d] = step;
        }
        return part;
    }

    template <int D> Loose<E, (R > 1 ? R - 1 : 1)> drop(int64_t index) const {
        Loose<E, (R > 1 ? R - 1 : 1)> part;
        part.label = label;
        part.dtype = dtype;
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

    template <int D> Loose<E, R> slice(int64_t begin, int64_t end, int64_t step) const {
        Loose<E, R> part = *this;
        if (begin < 0) begin += extent[D];
        if (end < 0) end += extent[D];
        begin = begin < 0 ? 0 : begin > extent[D] ? extent[D] : begin;
        end = end < begin ? begin : end > extent[D] ? extent[D] : end;
        part.data = data + begin * stride[D];
        part.extent[D] = (end - begin + step - 1) / step;
        part.stride[D] = stride[D] * step;
        return part;
    }

    int64_t size() const { int64_t n = 1; for (int d = 0; d < R; ++d) n *= extent[d]; return n; }
};

template <class E, int R> inline Loose<E, R> loose_from(const int64_t*& a, const char* label, const char* dtype) {
    Loose<E, R> v;
    v.data = reinterpret_cast<unsigned char*>(*a++);
    for (int d = 0; d < R; ++d) v.extent[d] = *a++;
    for (int d = 0; d < R; ++d) v.stride[d] = *a++;
    v.label = label;
    v.dtype = dtype;
    return v;
}

template <class E, class F> inline typename E::value atomic_update(Ref<E> place, F change) {
    Lock lock(place.at);
    const typename E::value old = place;
    place = change(old);
    return old;
}

}  // namespace pk
