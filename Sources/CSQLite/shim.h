#pragma once
#include <sqlite3.h>
#include <sys/vfs.h>

/* SQLITE_TRANSIENT is a cast of -1 to a function, which Swift does not see: SQLite copies the bytes. */
static inline int netwatch_bind_text(sqlite3_stmt *statement, int index, const char *text, int length) {
    return sqlite3_bind_text(statement, index, text, length, SQLITE_TRANSIENT);
}

static inline int netwatch_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int length) {
    return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT);
}

/* A function with variable arguments: the last connection to be closed leaves the write-ahead log alone. */
static inline int netwatch_keep_log_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
