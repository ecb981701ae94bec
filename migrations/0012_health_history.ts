/**
 * How every check has ended, day by day; every node adds its own samples.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE health_history (
    day date NOT NULL,
    check_name text COLLATE "C" NOT NULL CHECK (char_length(check_name) BETWEEN 1 AND 100),
    ok int8 NOT NULL CHECK (ok >= 0),
    degraded int8 NOT NULL CHECK (degraded >= 0),
    down int8 NOT NULL CHECK (down >= 0),
    PRIMARY KEY (day, check_name)
  ) WITH (fillfactor = 70)`
})
