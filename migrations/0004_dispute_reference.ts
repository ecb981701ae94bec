/**
 * The filer's own reference for a dispute. The release before ignores it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE disputes ADD COLUMN claim_reference text CHECK (char_length(claim_reference) <= 100)`
})
