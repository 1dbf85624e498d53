/* Rows added to a table in synchronized transactions: sqlite-queue FILE COUNT ROWS; prints rows per second.
 *
 * ROWS is the number of rows in a transaction: 1, or as many as tasks add at the same time. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *database;

static void check(int code) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "sqlite-queue: %s\n", sqlite3_errmsg(database));
    exit(1);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(database, sql, -1, &statement, NULL));
    return statement;
}

static void run(sqlite3_stmt *statement) {
    check(sqlite3_step(statement));
    check(sqlite3_reset(statement));
}

int main(int count, char **words) {
    struct timespec start, end;
    char body[200], key[40];
    if (count != 4 || atoi(words[3]) < 1) {
        fputs("usage: sqlite-queue FILE COUNT ROWS\n", stderr);
        return 64;
    }
    memset(body, 'x', sizeof body);
    check(sqlite3_open(words[1], &database));
    check(sqlite3_exec(database,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, lane INTEGER, key TEXT, body BLOB);"
        "CREATE INDEX item_lane ON item (lane, id); CREATE UNIQUE INDEX item_key ON item (lane, key);", 0, 0, 0));
    sqlite3_stmt *begin = prepare("BEGIN IMMEDIATE"), *commit = prepare("COMMIT");
    sqlite3_stmt *insert = prepare("INSERT INTO item (lane, key, body) VALUES (1, ?, ?)");
    int rows = atoi(words[2]), together = atoi(words[3]);
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int row = 0; row < rows; row++) {
        if (row % together == 0) run(begin);
        snprintf(key, sizeof key, "%016lx%016lx", random(), random());
        check(sqlite3_bind_text(insert, 1, key, -1, SQLITE_STATIC));
        check(sqlite3_bind_blob(insert, 2, body, sizeof body, SQLITE_STATIC));
        run(insert);
        if (row % together == together - 1 || row == rows - 1) run(commit);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%f\n", rows / (end.tv_sec - start.tv_sec + (end.tv_nsec - start.tv_nsec) / 1e9));
    return 0;
}
