/**
 * The function that closes a single call: does and returns the same as `calls_close_batch` for a batch of one, in a
 * third of the time.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const closeOneCall = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Returns the available balance afterwards, null if the call was closed before, and what was held, null if the call
  // was not closed now. A call that is not open, was held against a budget, or costs more than was held is left to
  // calls_close_batch: nothing is changed before that.
  yield* sql`CREATE OR REPLACE FUNCTION call_close_one(
    p_consumer uuid, p_receipt uuid, p_provider uuid, p_tool uuid, p_tool_name text, p_called timestamptz,
    p_created timestamptz, p_duration int, p_cost int8, p_fee int8, p_status smallint, p_signature bytea,
    p_price_version int, p_origin smallint, p_request_bytes int, p_response_bytes int, p_tokens_input int,
    p_tokens_output int, p_free_used boolean, p_answer_status smallint, p_answer_headers text, p_answer_body bytea,
    OUT available int8, OUT held int8
  ) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_available int8;
      v_held int8;
      v_free boolean;
      v_opened_at timestamptz;
      v_key bytea;
      v_request bytea;
      v_lane smallint;
    BEGIN
      SELECT w.credits - w.debits - w.held INTO v_available FROM wallets w WHERE w.consumer_id = p_consumer
      FOR NO KEY UPDATE;
      IF FOUND THEN
        DELETE FROM calls_open o WHERE o.invocation_id = p_receipt AND o.consumer_id = p_consumer
          AND o.held >= p_cost AND o.budget_ids IS NULL
        RETURNING o.held, o.free, o.opened_at, o.key_hash, o.request_hash
        INTO v_held, v_free, v_opened_at, v_key, v_request;
      END IF;
      IF NOT FOUND THEN
        SELECT CASE WHEN b.codes[1] = 1 THEN NULL ELSE b.available[1] + coalesce(b.amounts[1] - p_cost, 0) END, b.amounts[1]
        INTO available, held
        FROM calls_close_batch(ARRAY[p_consumer], ARRAY[1], ARRAY[p_receipt], ARRAY[p_provider], ARRAY[p_tool],
          ARRAY[p_tool_name], ARRAY[p_called], ARRAY[p_created], ARRAY[p_duration], ARRAY[p_cost], ARRAY[p_fee],
          ARRAY[p_status], ARRAY[p_signature], ARRAY[p_price_version], ARRAY[p_origin], ARRAY[p_request_bytes],
          ARRAY[p_response_bytes], ARRAY[p_tokens_input], ARRAY[p_tokens_output], ARRAY[p_free_used],
          ARRAY[p_answer_status], ARRAY[p_answer_headers], ARRAY[p_answer_body]) b;
        RETURN;
      END IF;

      IF v_held > 0 THEN
        UPDATE wallets w SET debits = w.debits + p_cost, held = w.held - v_held WHERE w.consumer_id = p_consumer;
      END IF;
      IF p_cost > 0 THEN
        INSERT INTO transfers (transfer_id, consumer_id, provider_id, amount, effective_at, recorded_at, leg, kind,
          debit, credit)
        SELECT p_receipt, p_consumer, p_provider, leg.amount, p_called, p_created, leg.n, leg.n, 1, leg.n + 1
        FROM (VALUES (1, p_cost - p_fee), (2, p_fee)) AS leg (n, amount) WHERE leg.amount > 0;

        v_lane := pg_backend_pid() % 31 + 1;
        INSERT INTO account_balances AS b (owner_id, account, day, lane, credits)
        SELECT a.owner_id, a.account, a.day, v_lane, a.amount
        FROM (VALUES (uuid '00000000-0000-0000-0000-000000000000', 3, date '1970-01-01', p_fee),
          (p_provider, 2, (p_created AT TIME ZONE 'UTC')::date, p_cost - p_fee)) AS a (owner_id, account, day, amount)
        WHERE a.amount > 0
        ON CONFLICT (owner_id, account, day, lane) DO UPDATE SET credits = b.credits + excluded.credits;
      END IF;

      INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee, duration_ms,
        price_version, request_bytes, response_bytes, tokens_input, tokens_output, status, origin, signature, tool_name)
      VALUES (p_receipt, p_consumer, p_provider, p_tool, p_called, p_created, p_cost, p_fee, p_duration, p_price_version,
        p_request_bytes, p_response_bytes, p_tokens_input, p_tokens_output, p_status, p_origin, p_signature, p_tool_name);

      INSERT INTO usage_hourly AS u
      VALUES (p_consumer, date_bin('1 hour', p_called, timestamptz '2000-01-01Z'), p_tool, p_provider, 1,
        (p_status = 1)::int, (p_status = 3)::int, p_cost, p_fee, p_duration, p_request_bytes, p_response_bytes,
        p_tokens_input, p_tokens_output)
      ON CONFLICT (consumer_id, hour, tool_id, provider_id) DO UPDATE SET
        calls = u.calls + 1, successes = u.successes + excluded.successes, timeouts = u.timeouts + excluded.timeouts,
        spend = u.spend + excluded.spend, fee = u.fee + excluded.fee, latency_ms = u.latency_ms + excluded.latency_ms,
        request_bytes = u.request_bytes + excluded.request_bytes,
        response_bytes = u.response_bytes + excluded.response_bytes,
        tokens_input = u.tokens_input + excluded.tokens_input, tokens_output = u.tokens_output + excluded.tokens_output;

      IF v_free AND NOT p_free_used THEN
        UPDATE free_tier_usage f SET used = f.used - 1
        WHERE f.consumer_id = p_consumer AND f.tool_id = p_tool
          AND f.month = (date_trunc('month', v_opened_at, 'UTC') AT TIME ZONE 'UTC')::date;
      END IF;

      IF v_key IS NOT NULL AND (p_answer_status IS NOT NULL OR p_cost > 0) THEN
        INSERT INTO call_idempotency (consumer_id, key_hash, request_hash, invocation_id, created_at, answer_status,
          answer_headers, answer_body)
        VALUES (p_consumer, v_key, v_request, p_receipt, p_created, p_answer_status, p_answer_headers, p_answer_body);
      END IF;
      available := v_available + v_held - p_cost;
      held := v_held;
    END $$`
})
