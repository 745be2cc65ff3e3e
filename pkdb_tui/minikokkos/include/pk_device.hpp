// What generated kernels need on a CUDA device: checked indices, atomics, reductions over a grid.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <unistd.h>

#define PK_BOTH __host__ __device__

// What failed first in a launch. 1: an access out of bounds, `label` being the view's name; 2: scratch that is too small,
// per thread where `dim` is 1, `extent` bytes of it where `index` are asked for.
struct pk_Fault { int failed; int dim; long long index, extent; char label[64]; };
static __device__ pk_Fault pk_fault;

// A debugger stops here; whatever it is that was accessed, the kernel runs on.
// Its variables are in memory, where the debugger finds them whatever the registers hold.
extern "C" __device__ __noinline__ void pk_bounds_fault(const char* label, int dim, int64_t index, int64_t extent) {
    const char* volatile pk_label = label;
    volatile int pk_dim = dim;
    volatile int64_t pk_index = index, pk_extent = extent;
    if (atomicCAS(&pk_fault.failed, 0, 1) == 0) {
        pk_fault.dim = pk_dim;
        pk_fault.index = pk_index;
        pk_fault.extent = pk_extent;
        for (int i = 0; i < 63 && pk_label[i]; ++i) pk_fault.label[i] = pk_label[i];
    }
#line 1 "pk_bounds.cpp"
    { volatile int pk_here = 0; (void)pk_here; }
#line 31 "pk_device.hpp"
}

namespace pk {

#if defined(PK_BOUNDS)
#define PK_CHECKS true
PK_BOTH inline int64_t pk_bad_index(const char* label, int dim, int64_t index, int64_t extent) {
#ifdef __CUDA_ARCH__
    pk_bounds_fault(label, dim, index, extent);
#endif
    return -1;
}
template <class T> PK_BOTH inline T& pk_nowhere() {
#ifdef __CUDA_ARCH__
    static T pk_dummy;
    return pk_dummy;
#else
    return *static_cast<T*>(nullptr);  // kernels don't run on the host
#endif
}
#endif

}  // namespace pk

#include "pk_common.hpp"

namespace pk {

#ifdef PK_CONDITIONS
// A breakpoint's condition while it is evaluated: what would be a fault in the kernel is kept here, and nothing is done.
struct Condition {
    int pk_fault = 0;  // 1: an index out of bounds, 2: a division by zero
    int pk_dim = 0;
    int64_t pk_index = 0, pk_extent = 0;
    template <class F> __device__ __noinline__ bool holds(F test) {
        const bool found = test(*this);
        return found || pk_fault;
    }
};

// All conditions of a line, evaluated as a thread comes to it: which of them hold, each as a bit.
template <int N> struct Conditions {
    Condition pk_each[N];
    template <class... F> __device__ __noinline__ int outcome(F... tests) {
        int number = 0, found = 0;
        ((found |= int(pk_each[number].holds(tests)) << number, ++number), ...);
        return found;
    }
};
template <class T, int R, class... I> __device__ inline T met(Condition& condition, const View<T, R>& view, I... index) {
    const int64_t at[] = {int64_t(index)...};
    int64_t offset = 0;
    for (int d = 0; d < R; ++d) {
        if (at[d] < 0 || at[d] >= view.extent[d]) {
            condition.pk_fault = 1;
            condition.pk_dim = d;
            condition.pk_index = at[d];
            condition.pk_extent = view.extent[d];
            return T();
        }
        offset += at[d] * view.stride[d];
    }
    return view.data[offset];
}
template <class A, class B> __device__ inline auto floor_div(Condition& condition, A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    if (b == 0) {
        condition.pk_fault = 2;
        return T(0);
    }
    if (T(b) == T(-1)) return T(-T(a));
    const T quotient = T(a) / T(b);
    return T(quotient - (quotient * T(b) != T(a) && (a < 0) != (b < 0) ? 1 : 0));
}
template <class A, class B> __device__ inline auto floor_mod(Condition& condition, A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    return b == 0 ? T(floor_div(condition, a, b)) : T(T(a) - floor_div(condition, a, b) * T(b));
}
#endif

__device__ inline void fence() { __threadfence(); }

// Any change of two, four or eight bytes as one; smaller ones have no such instruction.
template <class T, class F> __device__ inline T atomic_update(T* place, F change) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "atomics on a device need elements of 2, 4 or 8 bytes");
    using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, std::conditional_t<sizeof(T) == 4, unsigned, unsigned short>>;
    Word* word = reinterpret_cast<Word*>(place);
    Word old = *reinterpret_cast<volatile Word*>(word), seen;
    T before;
    do {
        seen = old;
        memcpy(&before, &seen, sizeof(T));
        const T after = change(before);
        Word next;
        memcpy(&next, &after, sizeof(T));
        old = atomicCAS(word, seen, next);
    } while (old != seen);
    return before;
}
template <class T> __device__ inline T atomic_fetch_add(T* p, T v) { return atomic_update(p, [v](T o) { return T(o + v); }); }
#define PK_ADD(T) template <> __device__ inline T atomic_fetch_add<T>(T* p, T v) { return atomicAdd(p, v); }
PK_ADD(int32_t)
PK_ADD(uint32_t)
PK_ADD(float)
PK_ADD(double)
#undef PK_ADD
template <class T> __device__ inline T atomic_fetch_sub(T* p, T v) { return atomic_update(p, [v](T o) { return T(o - v); }); }
template <class T> __device__ inline T atomic_fetch_mul(T* p, T v) { return atomic_update(p, [v](T o) { return T(o * v); }); }
template <class T> __device__ inline T atomic_fetch_div(T* p, T v) { return atomic_update(p, [v](T o) { return T(o / v); }); }
template <class T> __device__ inline T atomic_fetch_mod(T* p, T v) { return atomic_update(p, [v](T o) { return T(o % v); }); }
template <class T> __device__ inline T atomic_fetch_max(T* p, T v) { return atomic_update(p, [v](T o) { return o < v ? v : o; }); }
template <class T> __device__ inline T atomic_fetch_min(T* p, T v) { return atomic_update(p, [v](T o) { return v < o ? v : o; }); }
template <class T> __device__ inline T atomic_fetch_and(T* p, T v) { return atomic_update(p, [v](T o) { return T(o & v); }); }
template <class T> __device__ inline T atomic_fetch_or(T* p, T v) { return atomic_update(p, [v](T o) { return T(o | v); }); }
template <class T> __device__ inline T atomic_fetch_xor(T* p, T v) { return atomic_update(p, [v](T o) { return T(o ^ v); }); }
template <class T> __device__ inline T atomic_fetch_lshift(T* p, T v) { return atomic_update(p, [v](T o) { return T(o << v); }); }
template <class T> __device__ inline T atomic_fetch_rshift(T* p, T v) { return atomic_update(p, [v](T o) { return T(o >> v); }); }
template <class T> __device__ inline T atomic_exchange(T* p, T v) { return atomic_update(p, [v](T) { return v; }); }
template <class T> __device__ inline T atomic_load(T* p) { return atomic_update(p, [](T o) { return o; }); }
template <class T> __device__ inline T atomic_compare_exchange(T* p, T expected, T v) {
    return atomic_update(p, [expected, v](T o) { return o == expected ? v : o; });
}

// One block's parts joined to one value, which its first thread writes; a block has at most N threads.
template <class T, class J, int N> __device__ inline void join_block(T mine, T* parts) {
    __shared__ T pk_joined[N];
    const unsigned me = threadIdx.x;
    pk_joined[me] = mine;
    __syncthreads();
    for (unsigned count = blockDim.x; count > 1;) {
        const unsigned half = (count + 1) / 2;
        if (me + half < count) pk_joined[me] = J::template join<T>(pk_joined[me], pk_joined[me + half]);
        __syncthreads();
        count = half;
    }
    if (me == 0) parts[blockIdx.x] = pk_joined[0];
}
// For each of a block's N threads the sum of what those before it have, and for the block that of all.
template <class T, int N> __device__ inline void scan_block(T mine, T* each, T* parts) {
    __shared__ T pk_scanned[N];
    const unsigned me = threadIdx.x;
    pk_scanned[me] = mine;
    __syncthreads();
    for (unsigned step = 1; step < N; step *= 2) {
        const T more = me >= step ? pk_scanned[me - step] : T(0);
        __syncthreads();
        pk_scanned[me] = T(pk_scanned[me] + more);
        __syncthreads();
    }
    each[int64_t(blockIdx.x) * N + me] = me > 0 ? pk_scanned[me - 1] : T(0);
    if (me == N - 1) parts[blockIdx.x] = pk_scanned[me];
}

extern __shared__ double2 pk_scratch[];  // of the team that a block is: what it shares, then each thread's own

struct Team {
    int32_t pk_league_rank, pk_league_size, pk_team_rank, pk_team_size;
    int64_t pk_shared_room, pk_own, pk_used, pk_own_used;

    __device__ Team(int64_t shared, int64_t own)
        : pk_league_rank(blockIdx.x), pk_league_size(gridDim.x), pk_team_rank(threadIdx.x), pk_team_size(blockDim.x),
          pk_shared_room(shared), pk_own(own), pk_used(0), pk_own_used(0) {}
    __device__ int32_t league_rank() const { return pk_league_rank; }
    __device__ int32_t league_size() const { return pk_league_size; }
    __device__ int32_t team_rank() const { return pk_team_rank; }
    __device__ int32_t team_size() const { return pk_team_size; }
    __device__ void team_barrier() const { __syncthreads(); }
    __device__ void* take(int64_t bytes, bool own) {
        bytes = (bytes + 15) / 16 * 16;
        int64_t& used = own ? pk_own_used : pk_used;
        const int64_t room = own ? pk_own : pk_shared_room;
        if (used + bytes > room) {
            if (atomicCAS(&pk_fault.failed, 0, 2) == 0) {
                pk_fault.dim = own;
                pk_fault.index = used + bytes;
                pk_fault.extent = room;
            }
            return nullptr;
        }
        char* place = reinterpret_cast<char*>(pk_scratch) + (own ? pk_shared_room + pk_own * pk_team_rank : 0) + used;
        used += bytes;
        return place;
    }
};
template <class T> __device__ inline T* no_scratch() {
    static T pk_none[1];
    return pk_none;
}
// Every thread's part, then what the threads before `upto` make together.
template <class T, class J> __device__ inline T team_join(Team& team, T mine, int upto) {
    __shared__ T pk_partial[1024];
    pk_partial[team.team_rank()] = mine;
    __syncthreads();
    T total = J::template none<T>();
    for (int r = 0; r < upto; ++r) total = J::template join<T>(total, pk_partial[r]);
    __syncthreads();
    return total;
}

}  // namespace pk

#define PK_ONLY __device__
#include "pk_teams.hpp"

#define PK_TEST(condition) (condition)
#ifdef PK_DEBUG
#define PK_FUNCTION static __device__ __noinline__
#define PK_LINE do { volatile int pk_here = 0; (void)pk_here; } while (false)
#else
#define PK_FUNCTION static __device__ inline
#define PK_LINE ((void)0)
#endif

// Whether cuda-gdb is attached to this process.
static bool pk_watched() {
    char text[256];
    int tracer = 0;
    if (FILE* status = std::fopen("/proc/self/status", "r")) {
        while (std::fgets(text, sizeof text, status) && std::sscanf(text, "TracerPid: %d", &tracer) != 1) {}
        std::fclose(status);
    }
    std::snprintf(text, sizeof text, "/proc/%d/comm", tracer);
    FILE* name = tracer ? std::fopen(text, "r") : nullptr;
    if (!name) return false;
    const bool found = std::fgets(text, sizeof text, name) && std::strncmp(text, "cuda-gdb", 8) == 0;
    std::fclose(name);
    return found;
}
// cuda-gdb hears of a device's exception after this thread has heard of its failure, and stops all then. Meanwhile the
// launch is not over; five seconds are for a failure that is no exception.
static void pk_await_debugger() {
    for (int tries = 0; tries < 500 && pk_watched(); ++tries) usleep(10000);
}

#define PK_DEFINE_GLOBALS                                                                                        \
    extern "C" {                                                                                                 \
    __attribute__((visibility("default"))) char pk_message[512];                                                 \
    __attribute__((visibility("default"))) int pk_failed;                                                        \
    }                                                                                                            \
    /* Whether all went well; what did not is left in pk_failed and pk_message. */                               \
    static bool pk_well(cudaError_t error) {                                                                     \
        if (error == cudaSuccess) return true;                                                                   \
        if (!pk_failed) std::snprintf(pk_message, sizeof pk_message, "%s", cudaGetErrorString(error));           \
        pk_failed = 3;                                                                                           \
        return false;                                                                                            \
    }                                                                                                            \
    /* Whether a team's threads and scratch find room in a block. */                                             \
    static bool pk_room(const void* kernel, int64_t threads, int64_t bytes) {                                    \
        cudaFuncAttributes found;                                                                                \
        int device = 0, most = 0;                                                                                \
        if (!pk_well(cudaFuncGetAttributes(&found, kernel)) || !pk_well(cudaGetDevice(&device))) return false;   \
        if (!pk_well(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device))) return false; \
        const int64_t room = most - int64_t(found.sharedSizeBytes);                                              \
        if (bytes <= room && threads <= found.maxThreadsPerBlock)                                                \
            return pk_well(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes))); \
        pk_failed = 2;                                                                                           \
        if (bytes > room)                                                                                        \
            std::snprintf(pk_message, sizeof pk_message,                                                         \
                          "a team's scratch of %lld bytes, that of its threads included, is more than the %lld that this " \
                          "device has for it. Set less with TeamPolicy(...).set_scratch_size.", (long long)bytes, (long long)room); \
        else                                                                                                     \
            std::snprintf(pk_message, sizeof pk_message, "this device runs teams of at most %d threads.", found.maxThreadsPerBlock); \
        return false;                                                                                            \
    }                                                                                                            \
    /* What a kernel has found to have failed. */                                                                \
    static void pk_take_fault() {                                                                                \
        pk_Fault fault, none{};                                                                                  \
        if (!pk_well(cudaMemcpyFromSymbol(&fault, pk_fault, sizeof fault)) || !fault.failed) return;             \
        pk_well(cudaMemcpyToSymbol(pk_fault, &none, sizeof none));                                               \
        const char* whose = fault.dim ? "thread" : "team";                                                       \
        if (fault.failed == 2)                                                                                   \
            std::snprintf(pk_message, sizeof pk_message,                                                         \
                          "scratch of %lld bytes per %s is too small: %lld are asked for. Set it with "          \
                          "TeamPolicy(...).set_scratch_size(0, pk.%s(bytes)).",                                  \
                          fault.extent, whose, fault.index, fault.dim ? "PerThread" : "PerTeam");                \
        else                                                                                                     \
            std::snprintf(pk_message, sizeof pk_message, "%s index %lld in dimension %d, extent %lld", fault.label, \
                          fault.index, fault.dim, fault.extent);                                                 \
        pk_failed = fault.failed;                                                                                \
    }
