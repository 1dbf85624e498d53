#include "cheap.h"
