/**
 * The output schema that bills until announced terms take effect. NULL: that of the declaration. The release before ignores
 * it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE tools ADD COLUMN effective_output_schema json
    CHECK (octet_length(effective_output_schema::text) <= 262144)`
})
