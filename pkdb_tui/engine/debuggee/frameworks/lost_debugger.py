"""The C++ that lets a debug build outlive its native debugger, whose breakpoints stay in the code when it is killed."""

from __future__ import annotations

TEXT = r"""
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <ucontext.h>
namespace pkdb_lost {
// Only ever called when no native debugger is there to take the trap. A breakpoint that it left is met anew, until the
// session has taken it out; one that stays for 5 s is nobody's that is still there, and ends the program as ever.
static void on_trap(int, siginfo_t* info, void* context) {
  static std::atomic<long long> since{0}, last{0};  // milliseconds
  const int kept = errno, code = info->si_code;
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  (void)machine;
  if (code <= 0) {  // sent by a process, not met in code
    signal(SIGTRAP, SIG_DFL);
    raise(SIGTRAP);
  } else if (code == TRAP_TRACE) {  // it was stepping this thread
#if defined(__x86_64__)
    machine.gregs[REG_EFL] &= ~0x100LL;
#endif
  } else if (code != 4) {  // 4, TRAP_HWBKPT: what it watched was written, which has no further effect
#if defined(__x86_64__)
    machine.gregs[REG_RIP] -= 1;
#endif
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    const long long now = time.tv_sec * 1000LL + time.tv_nsec / 1000000;
    // In this order: a thread that sees another's `last` sees its `since`, too, and not that of long ago.
    if (now - last > 1000) since = now;
    last = now;
    if (now - since > 5000) signal(SIGTRAP, SIG_DFL);
    const timespec moment{0, 1000000};
    nanosleep(&moment, nullptr);
  }
  errno = kept;
}
__attribute__((constructor)) static void begin() {
  struct sigaction present{};
  sigaction(SIGTRAP, nullptr, &present);
  if ((present.sa_flags & SA_SIGINFO) || present.sa_handler != SIG_DFL) return;  // the program's own
  struct sigaction ours{};
  ours.sa_sigaction = on_trap;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigaction(SIGTRAP, &ours, nullptr);
}
}
"""
