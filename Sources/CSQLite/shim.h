#pragma once
#include <sqlite3.h>

/// Refuses statements that could damage the file deliberately. Calls a variadic function, which Swift cannot do.
static inline int tidelog_sqlite3_defend(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/// Omits the statistics of memory, for which each allocation locks a mutex of the process. Calls a variadic function.
static inline int tidelog_sqlite3_omit_memory_statistics(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
