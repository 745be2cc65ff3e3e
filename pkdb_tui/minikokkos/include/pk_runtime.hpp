// What generated kernels need: views, atomics, teams, reductions over threads. Kept small, as it is compiled every time.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#ifdef PK_COMPLEX
#include <complex>
#endif
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
struct pk_team_table { int size; int tid[1024]; };
extern pk_team_table pk_team;
extern char pk_message[512];
extern std::atomic<int> pk_failed;
void pk_bounds_fault(const char* message);
}

namespace pk {

#ifdef PK_CONDITIONS
// A breakpoint's condition while it is evaluated: what would be a fault in the kernel is kept here, and nothing is done.
struct Condition {
    char pk_why[128] = "";
    template <class F> __attribute__((noinline)) bool holds(F test) {
        Condition* outer = current();
        current() = this;
        const bool found = test();
        current() = outer;
        return found || pk_why[0];
    }
    static Condition*& current() {
        static thread_local Condition* pk_now = nullptr;
        return pk_now;
    }
};

// All conditions of a line, evaluated as a thread comes to it: it passes one place where any of them holds.
template <int N> struct Conditions {
    bool pk_met = false;
    bool pk_held[N] = {};
    Condition pk_each[N];
    template <class... F> __attribute__((noinline)) bool hold(F... tests) {
        int number = 0;
        ((pk_held[number] = pk_each[number].holds(tests), pk_met |= pk_held[number], ++number), ...);
        return pk_met;
    }
};

// Python's // and % of integers, in conditions only.
template <class A, class B> inline auto floor_div(A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    if (b == 0) {
        std::snprintf(Condition::current()->pk_why, sizeof Condition::pk_why, "division by zero");
        return T(0);
    }
    if (T(b) == T(-1)) return T(-T(a));
    const T quotient = T(a) / T(b);
    return T(quotient - (quotient * T(b) != T(a) && (a < 0) != (b < 0) ? 1 : 0));
}
template <class A, class B> inline auto floor_mod(A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    return b == 0 ? T(floor_div(a, b)) : T(T(a) - floor_div(a, b) * T(b));
}

#endif

// Whether an index is checked: everywhere with bounds, else where a condition needs it.
#if defined(PK_BOUNDS)
#define PK_CHECKS true
#elif defined(PK_CONDITIONS)
#define PK_CHECKS (Condition::current() != nullptr)
#endif

inline int64_t pk_bad_index(const char* label, int dim, int64_t index, int64_t extent) {
    char text[256];
    std::snprintf(text, sizeof text, "%s index %lld in dimension %d, extent %lld", label, (long long)index, dim,
                  (long long)extent);
#ifdef PK_CONDITIONS
    if (Condition* condition = Condition::current()) {
        std::snprintf(condition->pk_why, sizeof condition->pk_why, "%.127s", text);
        return -1;
    }
#endif
    pk_bounds_fault(text);
    return -1;
}

// Where an access out of bounds lands, so that the rest of the kernel can run.
template <class T> inline T& pk_nowhere() {
    static thread_local T pk_dummy;
    pk_dummy = T();
    return pk_dummy;
}

}  // namespace pk

#define PK_BOTH
#include "pk_common.hpp"

namespace pk {

// What no instruction changes as one is changed under a lock, of which there are a few, chosen by the address.
struct Lock {
    std::atomic_flag& taken;
    explicit Lock(const void* place) : taken(all()[(reinterpret_cast<uintptr_t>(place) ^ reinterpret_cast<uintptr_t>(place) >> 6) % 64]) {
        for (int spins = 0; taken.test_and_set(std::memory_order_acquire); ++spins)
            if (spins > 200) sched_yield();
    }
    ~Lock() { taken.clear(std::memory_order_release); }
    static std::atomic_flag* all() {
        static std::atomic_flag pk_locks[64] = {};
        return pk_locks;
    }
};
template <class T, class F> inline T atomic_update(T* place, F change) {
    T old, now;
    if constexpr (sizeof(T) > 8) {
        Lock lock(place);
        old = *place;
        *place = change(old);
        return old;
    } else {
        __atomic_load(place, &old, __ATOMIC_RELAXED);
        do { now = change(old); } while (!__atomic_compare_exchange(place, &old, &now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        return old;
    }
}
template <class T, class P> inline T atomic_fetch_add(P p, T v) { return atomic_update(p, [v](T o) { return T(o + v); }); }
template <class T, class P> inline T atomic_fetch_sub(P p, T v) { return atomic_update(p, [v](T o) { return T(o - v); }); }
template <class T, class P> inline T atomic_fetch_mul(P p, T v) { return atomic_update(p, [v](T o) { return T(o * v); }); }
template <class T, class P> inline T atomic_fetch_div(P p, T v) { return atomic_update(p, [v](T o) { return T(o / v); }); }
template <class T, class P> inline T atomic_fetch_mod(P p, T v) { return atomic_update(p, [v](T o) { return T(o % v); }); }
template <class T, class P> inline T atomic_fetch_max(P p, T v) { return atomic_update(p, [v](T o) { return T(o < v ? v : o); }); }
template <class T, class P> inline T atomic_fetch_min(P p, T v) { return atomic_update(p, [v](T o) { return T(v < o ? v : o); }); }
template <class T, class P> inline T atomic_fetch_and(P p, T v) { return atomic_update(p, [v](T o) { return T(o & v); }); }
template <class T, class P> inline T atomic_fetch_or(P p, T v) { return atomic_update(p, [v](T o) { return T(o | v); }); }
template <class T, class P> inline T atomic_fetch_xor(P p, T v) { return atomic_update(p, [v](T o) { return T(o ^ v); }); }
template <class T, class P> inline T atomic_fetch_lshift(P p, T v) { return atomic_update(p, [v](T o) { return T(o << v); }); }
template <class T, class P> inline T atomic_fetch_rshift(P p, T v) { return atomic_update(p, [v](T o) { return T(o >> v); }); }
template <class T, class P> inline T atomic_exchange(P p, T v) { return atomic_update(p, [v](T) { return v; }); }
template <class T, class P> inline T atomic_load(P p) {
    if constexpr (std::is_pointer<P>::value && sizeof(T) <= 8) {
        T v;
        __atomic_load(p, &v, __ATOMIC_SEQ_CST);
        return v;
    } else {
        return atomic_update(p, [](T o) { return o; });
    }
}
template <class T, class P> inline T atomic_compare_exchange(P p, T expected, T v) {
    if constexpr (std::is_pointer<P>::value && sizeof(T) <= 8) {
        __atomic_compare_exchange(p, &expected, &v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return expected;
    } else {
        return atomic_update(p, [expected, v](T o) { return o == expected ? v : o; });
    }
}

// The threads of one team; they meet at barriers and share scratch.
struct Shared {
    std::atomic<int> arrived{0};
    std::atomic<int> round{0};
    char* scratch = nullptr;
    double partial[4096];

    void barrier(int size) {
        const int now = round.load();
        if (arrived.fetch_add(1) + 1 == size) {
            arrived.store(0);
            round.fetch_add(1);
            return;
        }
        for (int spins = 0; round.load() == now; ++spins)
            if (spins > 200) sched_yield();
    }
};

struct Team {
    Shared* shared;
    int32_t pk_league_rank, pk_league_size, pk_team_rank, pk_team_size;
    int64_t pk_used, pk_own_used, pk_shared_room, pk_own;

    int32_t league_rank() const { return pk_league_rank; }
    int32_t league_size() const { return pk_league_size; }
    int32_t team_rank() const { return pk_team_rank; }
    int32_t team_size() const { return pk_team_size; }
    void team_barrier() const { shared->barrier(pk_team_size); }
    void* take(int64_t bytes, bool own) {
        bytes = (bytes + 15) / 16 * 16;
        int64_t& used = own ? pk_own_used : pk_used;
        const int64_t room = own ? pk_own : pk_shared_room;
        if (used + bytes > room) {
            if (!pk_failed.exchange(2))
                std::snprintf(pk_message, sizeof pk_message,
                              "scratch of %lld bytes per %s is too small: %lld are asked for. Set it with "
                              "TeamPolicy(...).set_scratch_size(0, pk.%s(bytes)).",
                              (long long)room, own ? "thread" : "team", (long long)(used + bytes),
                              own ? "PerThread" : "PerTeam");
            return nullptr;
        }
        char* place = shared->scratch + (own ? pk_shared_room + pk_own * pk_team_rank : 0) + used;
        used += bytes;
        return place;
    }
};

// All teams that run at once.
struct Groups {
    Shared* all;
    int count;
    Groups(int groups, int64_t scratch) : all(new Shared[groups]), count(groups) {
        for (int g = 0; g < count; ++g) all[g].scratch = static_cast<char*>(std::calloc(scratch ? scratch : 1, 1));
    }
    ~Groups() {
        for (int g = 0; g < count; ++g) std::free(all[g].scratch);
        delete[] all;
    }
    Team member(int64_t league_rank, int64_t league_size, int thread, int size, int64_t shared, int64_t own) const {
        return Team{all + thread / size, int32_t(league_rank), int32_t(league_size), thread % size, size, 0, 0, shared, own};
    }
};

// Where a view goes for which there is no scratch.
template <class T> inline T* no_scratch() {
    static thread_local T pk_none[1];
    return pk_none;
}
// Every thread's part, then what the threads before `rank` or all of them make together.
template <class T, class J> inline T team_join(Team& team, T mine, int upto) {
    static_assert(sizeof(T) <= 32, "a partial result has a place of 32 bytes");
    std::memcpy(&team.shared->partial[4 * team.team_rank()], &mine, sizeof(T));
    team.team_barrier();
    T total = J::template none<T>();
    for (int r = 0; r < upto; ++r) {
        T part;
        std::memcpy(&part, &team.shared->partial[4 * r], sizeof(T));
        total = J::template join<T>(total, part);
    }
    team.team_barrier();
    return total;
}
}  // namespace pk

#define PK_ONLY
#include "pk_teams.hpp"

namespace pk {

// This thread's even share of `count` iterations, in order.
struct Share {
    int64_t from, to;
    Share(int64_t count, int thread, int threads) {
        const int64_t each = count / threads, more = count % threads;
        from = each * thread + (thread < more ? thread : more);
        to = from + each + (thread < more ? 1 : 0);
    }
};
// Whether OpenMP gave all threads asked for: teams would wait for ever for those missing.
inline bool complete(int wanted) {
    if (omp_get_num_threads() == wanted) return true;
    if (!pk_failed.exchange(2))
        std::snprintf(pk_message, sizeof pk_message,
                      "its teams need %d threads, OpenMP gives %d. Use a smaller team size, or raise OMP_THREAD_LIMIT.",
                      wanted, omp_get_num_threads());
    return false;
}
template <class T> struct alignas(64) Part { T value; };

inline void enter() {
#ifdef PK_DEBUG
    const int me = omp_get_thread_num();
    if (me < 1024) pk_team.tid[me] = int(syscall(SYS_gettid));
    if (me == 0) pk_team.size = omp_get_num_threads();
#pragma omp barrier
#endif
}

}  // namespace pk

#ifdef PK_DEBUG
#define PK_FUNCTION static __attribute__((noinline, used))
#define PK_LINE asm volatile("nop")
#define PK_TEST(condition) ({ int pk_c = bool(condition); asm volatile("" : "+r"(pk_c)); pk_c; })
#else
#define PK_FUNCTION static inline
#define PK_LINE ((void)0)
#define PK_TEST(condition) (condition)
#endif

#define PK_DEFINE_GLOBALS                                                                            \
    extern "C" {                                                                                     \
    __attribute__((visibility("default"))) pk_team_table pk_team;                                    \
    __attribute__((visibility("default"))) char pk_message[512];                                     \
    __attribute__((visibility("default"))) std::atomic<int> pk_failed;                               \
    __attribute__((visibility("default"), noinline)) void pk_bounds_fault(const char* message) {     \
        if (!pk_failed.exchange(1)) std::snprintf(pk_message, sizeof pk_message, "%s", message);     \
        asm volatile("");                                                                            \
    }                                                                                                \
    }
