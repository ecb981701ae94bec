/**
 * What limits a consumer's spending: budgets, and grants with what is reserved in them for open calls. What the numbers in
 * `budgets.period` mean is in `adapters/sql/ledger/LedgerCodes.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const budgets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE budgets (
    consumer_id uuid NOT NULL,
    budget_id uuid NOT NULL,
    tool_id uuid,
    provider_id uuid,
    cap int8 NOT NULL CHECK (cap >= 0),
    period smallint NOT NULL,
    period_start timestamptz NOT NULL,
    spent int8 NOT NULL DEFAULT 0 CHECK (spent >= 0),
    held int8 NOT NULL DEFAULT 0 CHECK (held >= 0),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (consumer_id, budget_id)
  ) WITH (fillfactor = 70)`

  yield* sql`CREATE TABLE grants (
    consumer_id uuid NOT NULL,
    grant_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    tool_ids uuid[] NOT NULL,
    cap int8 NOT NULL CHECK (cap >= 0),
    period text NOT NULL CHECK (period IN ('day', 'month', 'total')),
    period_start timestamptz(3) NOT NULL,
    spent int8 NOT NULL CHECK (spent >= 0),
    created_at timestamptz(3) NOT NULL,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    PRIMARY KEY (consumer_id, grant_id)
  )`

  yield* sql`CREATE TABLE grant_reservations (
    consumer_id uuid NOT NULL,
    invocation_id uuid NOT NULL,
    grant_id uuid NOT NULL,
    amount int8 NOT NULL CHECK (amount > 0),
    period_start timestamptz(3) NOT NULL,
    reserved_at timestamptz(3) NOT NULL,
    PRIMARY KEY (consumer_id, invocation_id)
  )`
  yield* sql`CREATE INDEX grant_reservations_age ON grant_reservations (reserved_at)`
})
