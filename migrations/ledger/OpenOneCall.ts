/**
 * The function that opens a single call: the same rules with fewer statements.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const openOneCall = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Most calls come without key, free tier and budget, to a wallet with enough funds: one update locks the wallet,
  // checks its current state, and holds the price. Every other call is opened step by step once its wallet is locked.
  // Codes: see call_open_alone.
  yield* sql`CREATE OR REPLACE FUNCTION call_open_one(
    p_again boolean, p_invocation uuid, p_consumer uuid, p_provider uuid, p_tool uuid, p_tool_name text,
    p_price_version int, p_hold int8, p_free_calls int, p_origin smallint, p_opened_at timestamptz,
    p_deadline_at timestamptz, p_key bytea, p_request bytea,
    OUT code smallint, OUT amount int8, OUT free_left int, OUT available int8, OUT detail text, OUT body bytea
  ) LANGUAGE plpgsql AS $$
    BEGIN
      IF p_key IS NULL AND p_free_calls = 0 AND p_hold > 0 AND NOT p_again THEN
        UPDATE wallets w SET held = w.held + p_hold
        WHERE w.consumer_id = p_consumer AND NOT w.budgeted AND NOT w.frozen AND w.credits - w.debits - w.held >= p_hold
        RETURNING w.credits - w.debits - w.held INTO available;
        IF FOUND THEN
          INSERT INTO calls_open (invocation_id, consumer_id, provider_id, tool_id, held, opened_at, deadline_at,
            price_version, origin, free, tool_name)
          VALUES (p_invocation, p_consumer, p_provider, p_tool, p_hold, p_opened_at, p_deadline_at, p_price_version,
            p_origin, false, p_tool_name);
          code := 0;
          amount := p_hold;
          RETURN;
        END IF;
      END IF;

      PERFORM 1 FROM wallets w WHERE w.consumer_id = p_consumer FOR NO KEY UPDATE;
      IF NOT FOUND THEN
        INSERT INTO wallets (consumer_id) VALUES (p_consumer) ON CONFLICT DO NOTHING;
        PERFORM 1 FROM wallets w WHERE w.consumer_id = p_consumer FOR NO KEY UPDATE;
      END IF;
      SELECT o.code, o.amount, o.free_left, o.available, o.detail, o.body
      INTO code, amount, free_left, available, detail, body
      FROM call_open_alone(p_again, p_invocation, p_consumer, p_provider, p_tool, p_tool_name, p_price_version, p_hold,
        p_free_calls, p_origin, p_opened_at, p_deadline_at, p_key, p_request) o;
    END $$`
})
