// Nothing is called: continuations.c takes the place of a function of the runtime.
#pragma once
