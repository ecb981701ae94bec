/**
 * Disputes. Codes. Status: 1 filed, 2 under_review, 3 resolved_refund, 4 resolved_denied, 5 resolved_credit.
 * Filed by: 1 agent, 2 provider. Outcome: as the receipts' status.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE disputes (
    dispute_id uuid PRIMARY KEY,
    receipt_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    cost int8 NOT NULL CHECK (cost >= 0),
    fee int8 NOT NULL CHECK (fee >= 0 AND fee <= cost),
    outcome smallint NOT NULL,
    reason text NOT NULL,
    filed_by smallint NOT NULL,
    status smallint NOT NULL,
    created_at timestamptz NOT NULL,
    respond_by timestamptz NOT NULL,
    claim_text text,
    claim_evidence text,
    answer_text text,
    answer_evidence text,
    answered_at timestamptz,
    decided_by text,
    decided_at timestamptz,
    paid int8 CHECK (paid >= 0 AND paid <= cost),
    note text,
    CONSTRAINT disputes_are_decided_once CHECK ((status > 2) = (decided_at IS NOT NULL))
  )`
  yield* sql`CREATE UNIQUE INDEX disputes_of_receipt ON disputes (receipt_id) WHERE status <> 4`
  yield* sql`CREATE INDEX disputes_of_consumer ON disputes (consumer_id, dispute_id)`
  yield* sql`CREATE INDEX disputes_of_provider ON disputes (provider_id, dispute_id)`
  yield* sql`CREATE INDEX disputes_filed ON disputes (respond_by) WHERE status = 1`
})
