/**
 * The most that a consumer pays for one usage-priced call where the call itself says nothing: of a key, else of the
 * account.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE consumers ADD COLUMN default_cap_microcents int8
    CHECK (default_cap_microcents BETWEEN 0 AND 9007199254740991)`
  yield* sql`ALTER TABLE api_keys ADD COLUMN default_cap_microcents int8
    CHECK (default_cap_microcents BETWEEN 0 AND 9007199254740991),
    ADD CHECK (default_cap_microcents IS NULL OR consumer_id IS NOT NULL)`
})
