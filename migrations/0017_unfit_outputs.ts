/**
 * Which paid calls brought an output that does not fit the tool's output schema, for as long as they can be disputed; and
 * what a dispute knew of it when it was filed.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE unfit_outputs (
    consumer_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    noted_at timestamptz(3) NOT NULL,
    PRIMARY KEY (consumer_id, receipt_id)
  )`
  yield* sql`CREATE INDEX unfit_outputs_age ON unfit_outputs (noted_at)`
  yield* sql`ALTER TABLE disputes ADD COLUMN unfit boolean NOT NULL DEFAULT false`
})
