/**
 * Disputes of receipts, and claims for refunds that could not be paid at once. Codes: `status` 1 filed, 2 under_review,
 * 3 resolved_refund, 4 resolved_denied, 5 resolved_credit; `filed_by` 1 agent, 2 provider; `outcome` as `receipts.status`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const disputes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // decide_by: until when the operator may decide a contested dispute. unfit: the output did not match the tool's schema.
  // frozen is what was frozen of the provider's balance, paid what was decided, refunded what of it was paid so far.
  yield* sql`CREATE TABLE disputes (
    dispute_id uuid PRIMARY KEY,
    receipt_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    cost int8 NOT NULL CHECK (cost >= 0),
    fee int8 NOT NULL CHECK (fee >= 0 AND fee <= cost),
    settled_on date NOT NULL,
    outcome smallint NOT NULL,
    unfit boolean NOT NULL DEFAULT false,
    reason text NOT NULL,
    filed_by smallint NOT NULL,
    status smallint NOT NULL,
    created_at timestamptz NOT NULL,
    respond_by timestamptz NOT NULL,
    decide_by timestamptz,
    claim_text text,
    claim_evidence text,
    answer_text text,
    answer_evidence text,
    answered_at timestamptz,
    decided_by text,
    decided_at timestamptz,
    frozen int8 NOT NULL DEFAULT 0 CHECK (frozen >= 0 AND frozen <= cost),
    paid int8 CHECK (paid >= 0 AND paid <= cost),
    refunded int8 CHECK (refunded >= 0 AND refunded <= paid),
    note text,
    CONSTRAINT disputes_are_decided_once CHECK ((status > 2) = (decided_at IS NOT NULL))
  )`
  yield* sql`CREATE UNIQUE INDEX disputes_of_receipt ON disputes (receipt_id) WHERE status <> 4`
  yield* sql`CREATE INDEX disputes_of_consumer ON disputes (consumer_id, dispute_id)`
  yield* sql`CREATE INDEX disputes_of_provider ON disputes (provider_id, dispute_id)`
  yield* sql`CREATE INDEX disputes_filed ON disputes (respond_by) WHERE status = 1`
  yield* sql`CREATE INDEX disputes_contested ON disputes (decide_by, dispute_id) WHERE status = 2`

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
  yield* sql`CREATE INDEX claims_newest_open ON claims (claim_id) WHERE paid < amount`
  yield* sql`CREATE INDEX claims_of_subject ON claims (subject)`
})
