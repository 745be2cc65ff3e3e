// A line reached often, for the cost of a condition that gdb evaluates itself.
#include <cstdio>
volatile double total;
void count(int i) {
  total = total + i;
}
int main() {
  for (int i = 0; i < 3000; i++) count(i);
  std::printf("%f\n", total);
}
