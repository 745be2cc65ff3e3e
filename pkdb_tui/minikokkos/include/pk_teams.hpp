// What the threads of a team do together, on the host and on devices.
// Before it: PK_ONLY, what marks a function that kernels alone call; Team, team_join and no_scratch.
#pragma once

namespace pk {

template <class F> PK_ONLY inline void single(Team& team, bool per_team, F body) {
    if (!per_team || team.team_rank() == 0) body();
}
template <class F> PK_ONLY inline void team_for_md(Team& team, F body, int64_t n0, int64_t n1) {
    for (int64_t k = team.team_rank(); k < n0 * n1; k += team.team_size()) body(int32_t(k / n1), int32_t(k % n1));
}
template <class F> PK_ONLY inline void team_for_md(Team& team, F body, int64_t n0, int64_t n1, int64_t n2) {
    for (int64_t k = team.team_rank(); k < n0 * n1 * n2; k += team.team_size())
        body(int32_t(k / (n1 * n2)), int32_t(k / n2 % n1), int32_t(k % n2));
}

template <class T, int R, class... N> PK_ONLY inline View<T, R> scratch_view(Team& team, const char* label, bool own, N... extents) {
    const int64_t sizes[] = {int64_t(extents)...};
    View<T, R> v;
    v.label = label;
    int64_t count = 1;
    for (int d = R - 1; d >= 0; --d) { v.extent[d] = sizes[d]; v.stride[d] = count; count *= sizes[d]; }
    v.data = static_cast<T*>(team.take(count * int64_t(sizeof(T)), own));
    if (v.data == nullptr) {
        v.data = no_scratch<T>();
        for (int d = 0; d < R; ++d) { v.extent[d] = 0; v.stride[d] = 0; }
    }
    return v;
}

template <class F> PK_ONLY inline void team_for(Team& team, int64_t begin, int64_t end, F body) {
    for (int64_t i = begin + team.team_rank(); i < end; i += team.team_size()) body(int32_t(i));
}
template <class F> PK_ONLY inline void vector_for(Team&, int64_t begin, int64_t end, F body) {
    for (int64_t i = begin; i < end; ++i) body(int32_t(i));
}
template <class T, class J, class F> PK_ONLY inline T team_reduce(Team& team, int64_t begin, int64_t end, F body) {
    T mine = J::template none<T>();
    for (int64_t i = begin + team.team_rank(); i < end; i += team.team_size()) body(int32_t(i), mine);
    return team_join<T, J>(team, mine, team.team_size());
}
template <class T, class J, class F> PK_ONLY inline T vector_reduce(Team&, int64_t begin, int64_t end, F body) {
    T total = J::template none<T>();
    for (int64_t i = begin; i < end; ++i) body(int32_t(i), total);
    return total;
}
template <class T, class F> PK_ONLY inline T team_scan(Team& team, int64_t begin, int64_t end, F body) {
    const int64_t part = (end - begin + team.team_size() - 1) / team.team_size();
    int64_t from = begin + part * team.team_rank(), to = from + part;
    from = from > end ? end : from;
    to = to > end ? end : to;
    T mine = T(0);
    for (int64_t i = from; i < to; ++i) body(int32_t(i), mine, false);
    T before = team_join<T, Sum>(team, mine, team.team_rank());
    for (int64_t i = from; i < to; ++i) body(int32_t(i), before, true);
    return team_join<T, Sum>(team, mine, team.team_size());
}
template <class T, class F> PK_ONLY inline T vector_scan(Team&, int64_t begin, int64_t end, F body) {
    T total = T(0);
    for (int64_t i = begin; i < end; ++i) body(int32_t(i), total, true);
    return total;
}

}  // namespace pk
