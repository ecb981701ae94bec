/**
 * Open calls, and the kept responses of closed ones. What the numbers in `origin` mean is in
 * `adapters/sql/ledger/LedgerCodes.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const calls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A row lives as long as its call is open. Deleting the row is what makes a call close only once. suspended_leg: the leg
  // after which the call waits for its caller; null while it runs.
  yield* sql`CREATE TABLE calls_open (
    invocation_id uuid NOT NULL,
    consumer_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    held int8 NOT NULL,
    opened_at timestamptz NOT NULL,
    deadline_at timestamptz NOT NULL,
    price_version int4 NOT NULL,
    free_calls_left int4,
    origin smallint NOT NULL,
    fee_bps smallint NOT NULL,
    free boolean NOT NULL,
    tool_name text NOT NULL,
    key_hash bytea,
    request_hash bytea,
    budget_ids uuid[],
    suspended_leg smallint,
    PRIMARY KEY (invocation_id, consumer_id)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000, autovacuum_vacuum_cost_delay = 0)`
  yield* sql`CREATE UNIQUE INDEX calls_open_key ON calls_open (consumer_id, key_hash) WHERE key_hash IS NOT NULL`
  yield* sql`CREATE INDEX calls_open_suspended ON calls_open (consumer_id) WHERE suspended_leg IS NOT NULL`

  // The response of a closed call that came with an idempotency key. While the call is open, its key is in calls_open.
  // answer_body is packed, with the headers where answer_headers is null: see adapters/sql/metering/KeptAnswers.ts.
  yield* sql`CREATE TABLE call_idempotency (
    consumer_id uuid NOT NULL,
    key_hash bytea NOT NULL,
    request_hash bytea NOT NULL,
    invocation_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    answer_status smallint,
    answer_headers text,
    answer_body bytea,
    PRIMARY KEY (consumer_id, key_hash)
  )`
  yield* sql`CREATE INDEX call_idempotency_age ON call_idempotency USING brin (created_at) WITH (autosummarize = on)`
  // Kept responses of calls that the caller left, while their body is kept.
  yield* sql`CREATE INDEX call_idempotency_left ON call_idempotency (created_at)
    WHERE answer_headers LIKE '{"left"%' AND answer_body <> ''`
})
