/**
 * Refunds move only money that is there: what a dispute froze, what of its decision was paid, and the claims for the rest.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`ALTER TABLE disputes ADD COLUMN settled_on date NOT NULL DEFAULT '1970-01-01'`
  yield* sql`ALTER TABLE disputes ALTER COLUMN settled_on DROP DEFAULT`
  yield* sql`ALTER TABLE disputes ADD COLUMN frozen int8 NOT NULL DEFAULT 0 CHECK (frozen >= 0 AND frozen <= cost)`
  yield* sql`ALTER TABLE disputes ADD COLUMN refunded int8 CHECK (refunded >= 0 AND refunded <= paid)`
  yield* sql`UPDATE disputes SET refunded = paid`

  // A claim without debtor is owed by the platform, one without creditor to the platform.
  yield* sql`CREATE TABLE claims (
    claim_id uuid PRIMARY KEY,
    subject uuid NOT NULL,
    debtor uuid,
    creditor uuid,
    amount int8 NOT NULL CHECK (amount > 0),
    paid int8 NOT NULL DEFAULT 0 CHECK (paid >= 0 AND paid <= amount),
    created_at timestamptz(3) NOT NULL,
    CHECK (num_nonnulls(debtor, creditor) > 0)
  )`
  yield* sql`CREATE INDEX claims_open ON claims (debtor, created_at, claim_id) WHERE paid < amount`
  yield* sql`CREATE INDEX claims_of_subject ON claims (subject)`

  yield* sql`ALTER TABLE payees ADD COLUMN reserve_lifted boolean NOT NULL DEFAULT false`
})
