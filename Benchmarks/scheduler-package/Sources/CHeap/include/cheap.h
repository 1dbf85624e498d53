#pragma once
#include <malloc.h>

/// How many bytes malloc(3) has given out (mallinfo2(3)), large blocks included.
static inline long heap_in_use(void) {
  struct mallinfo2 heap = mallinfo2();
  return (long)(heap.uordblks + heap.hblkhd);
}
