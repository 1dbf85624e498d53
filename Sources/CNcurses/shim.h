#pragma once
/* Wide characters, and no macros where there are functions: Swift sees functions alone. */
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#if __has_include(<ncursesw/curses.h>)
#include <ncursesw/curses.h>
#else
#include <curses.h>
#endif
#include <dlfcn.h>

// The header gives the types, and the functions are looked up when the live view opens: to link the library would cost
// every command 0.15 ms at its start, for the one that draws.

/// The functions of libncursesw that are called, each by its own name (ncurses(3X)).
struct netwatch_curses {
    __typeof__(&use_env) use_env;
    __typeof__(&newterm) newterm;
    __typeof__(&delscreen) delscreen;
    __typeof__(&newwin) newwin;
    __typeof__(&cbreak) cbreak;
    __typeof__(&noecho) noecho;
    __typeof__(&nonl) nonl;
    __typeof__(&keypad) keypad;
    __typeof__(&nodelay) nodelay;
    __typeof__(&typeahead) typeahead;
    __typeof__(&set_escdelay) set_escdelay;
    __typeof__(&start_color) start_color;
    __typeof__(&use_default_colors) use_default_colors;
    __typeof__(&init_pair) init_pair;
    __typeof__(&mousemask) mousemask;
    __typeof__(&mouseinterval) mouseinterval;
    __typeof__(&getmouse) getmouse;
    __typeof__(&wget_wch) wget_wch;
    __typeof__(&wmove) wmove;
    __typeof__(&wclrtoeol) wclrtoeol;
    __typeof__(&werase) werase;
    __typeof__(&wattr_set) wattr_set;
    __typeof__(&waddnstr) waddnstr;
    __typeof__(&leaveok) leaveok;
    __typeof__(&curs_set) curs_set;
    __typeof__(&clearok) clearok;
    __typeof__(&resizeterm) resizeterm;
    __typeof__(&wresize) wresize;
    __typeof__(&wnoutrefresh) wnoutrefresh;
    __typeof__(&doupdate) doupdate;
    __typeof__(&endwin) endwin;
    __typeof__(&tigetstr) tigetstr;
    __typeof__(&tigetnum) tigetnum;
};

/// Looks the functions up, in Debian's library (dlopen(3)).
///
/// Returns null, or what is missing: the library, or a function of it. The library stays loaded.
static inline const char *netwatch_curses_load(struct netwatch_curses *functions) {
    static const char library[] = "libncursesw.so.6";
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return library;
#define NETWATCH_FIND(name) \
    functions->name = (__typeof__(functions->name))dlsym(handle, #name); \
    if (!functions->name) return #name
    NETWATCH_FIND(use_env);
    NETWATCH_FIND(newterm);
    NETWATCH_FIND(delscreen);
    NETWATCH_FIND(newwin);
    NETWATCH_FIND(cbreak);
    NETWATCH_FIND(noecho);
    NETWATCH_FIND(nonl);
    NETWATCH_FIND(keypad);
    NETWATCH_FIND(nodelay);
    NETWATCH_FIND(typeahead);
    NETWATCH_FIND(set_escdelay);
    NETWATCH_FIND(start_color);
    NETWATCH_FIND(use_default_colors);
    NETWATCH_FIND(init_pair);
    NETWATCH_FIND(mousemask);
    NETWATCH_FIND(mouseinterval);
    NETWATCH_FIND(getmouse);
    NETWATCH_FIND(wget_wch);
    NETWATCH_FIND(wmove);
    NETWATCH_FIND(wclrtoeol);
    NETWATCH_FIND(werase);
    NETWATCH_FIND(wattr_set);
    NETWATCH_FIND(waddnstr);
    NETWATCH_FIND(leaveok);
    NETWATCH_FIND(curs_set);
    NETWATCH_FIND(clearok);
    NETWATCH_FIND(resizeterm);
    NETWATCH_FIND(wresize);
    NETWATCH_FIND(wnoutrefresh);
    NETWATCH_FIND(doupdate);
    NETWATCH_FIND(endwin);
    NETWATCH_FIND(tigetstr);
    NETWATCH_FIND(tigetnum);
#undef NETWATCH_FIND
    return 0;
}

// Macros of numbers that Swift can't import.
static const attr_t netwatch_bold = A_BOLD;
static const attr_t netwatch_dim = A_DIM;
static const attr_t netwatch_reverse = A_REVERSE;
static const mmask_t netwatch_wheel_up = BUTTON4_PRESSED;
static const mmask_t netwatch_wheel_down = BUTTON5_PRESSED;
