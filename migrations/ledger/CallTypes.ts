/**
 * What the functions of calls take: one row for each call of a batch.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const callTypes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // wallet: position in p_wallets. tier: number of the free tier (consumer, tool, month) in this batch; null where the
  // tool has none. held arrives as the price, and budget_ids as the levels of the caller's key, the lowest one
  // first; the function sets held, free, free_calls_left, and budget_ids to the lowest level and the budgets.
  yield* sql`CREATE TYPE call_opening AS (
    wallet int4, tier int4, free_calls int4, invocation_id uuid, consumer_id uuid, provider_id uuid, tool_id uuid,
    tool_name text, price_version int4, fee_bps smallint, origin smallint, opened_ms int8, deadline_ms int8,
    key_hash bytea, request_hash bytea, held int8, free boolean, free_calls_left int4, budget_ids uuid[]
  )`

  // place: position in the batch, from 1. held: what the caller expects to be held; null where it does not know. fee: that of
  // the cost, by fee_bps, which must be what the open call has.
  yield* sql`CREATE TYPE call_closing AS (
    place int4, receipt_id uuid, consumer_id uuid, provider_id uuid, tool_id uuid, called_ms int8,
    created_ms int8, cost int8, fee int8, fee_bps smallint, held int8, duration_ms int4, price_version int4, request_bytes int4,
    response_bytes int4, tokens_input int4, tokens_output int4, status smallint, origin smallint, signature bytea,
    tool_name text, uses_free_call boolean, answer_status smallint, answer_headers text,
    hold_ms int4, request_id bytea
  )`
})
