/**
 * The functions that open calls.
 *
 * Rules of locking and performance for the functions that open and close calls:
 * - Every writer locks wallets first and in the order of their ids, so nodes never wait in a circle. In READ COMMITTED
 *   each statement of a function sees what was committed before it began: what is read after the lock is current, and
 *   the lock on a wallet also protects its consumer's free tier, budgets, keys and open calls.
 * - No joins to big tables: keys are looked up by "= ANY (array)" or by a scalar subquery, which can only be an index
 *   lookup. A join planned while a table was nearly empty would still read all of it when it is full.
 * - An item refers to its wallet by its position in p_wallets, which is sorted: width_bucket finds a wallet's position.
 * - Several small statements start faster than one large one, and statements that no item of the batch needs are
 *   skipped.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const openCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Opens one call, step by step. Codes: 0 opened, 1 opened free, 2 insufficient funds, 3 budget exceeded, 4 replay, 5
  // idempotency conflict, 6 in flight, 7 account frozen. p_again: a batch whose outcome is unknown may have opened the
  // call already.
  yield* sql`CREATE OR REPLACE FUNCTION call_open_alone(
    p_again boolean, p_invocation uuid, p_consumer uuid, p_provider uuid, p_tool uuid, p_tool_name text,
    p_price_version int, p_hold int8, p_free_calls int, p_origin smallint, p_opened_at timestamptz,
    p_deadline_at timestamptz, p_key bytea, p_request bytea,
    OUT code smallint, OUT amount int8, OUT free_left int, OUT available int8, OUT detail text, OUT body bytea
  ) LANGUAGE plpgsql AS $$
    DECLARE
      v_call calls_open%ROWTYPE;
      v_earlier call_idempotency%ROWTYPE;
      v_month date := date_trunc('month', p_opened_at, 'UTC') AT TIME ZONE 'UTC';
      v_budget record;
      v_budget_ids uuid[];
      v_frozen boolean;
    BEGIN
      SELECT w.credits - w.debits - w.held, w.frozen INTO available, v_frozen
      FROM wallets w WHERE w.consumer_id = p_consumer;

      IF p_again THEN
        SELECT * INTO v_call FROM calls_open o WHERE o.invocation_id = p_invocation AND o.consumer_id = p_consumer;
        IF FOUND THEN
          code := v_call.free::int;
          amount := v_call.held;
          free_left := v_call.free_calls_left;
          RETURN;
        END IF;
        IF (SELECT 1 FROM receipts r WHERE r.receipt_id = p_invocation AND r.consumer_id = p_consumer LIMIT 1) = 1 THEN
          RAISE EXCEPTION 'call % was opened and swept before its opening was confirmed', p_invocation;
        END IF;
      END IF;

      IF p_key IS NOT NULL THEN
        SELECT * INTO v_earlier FROM call_idempotency k WHERE k.consumer_id = p_consumer AND k.key_hash = p_key;
        IF NOT FOUND THEN
          SELECT o.request_hash, o.invocation_id INTO v_earlier.request_hash, v_earlier.invocation_id
          FROM calls_open o WHERE o.consumer_id = p_consumer AND o.key_hash = p_key;
        END IF;
        IF FOUND THEN
          IF v_earlier.request_hash <> p_request THEN
            code := 5;
          ELSIF v_earlier.answer_status IS NULL THEN
            code := 6;
            detail := v_earlier.invocation_id;
          ELSE
            code := 4;
            amount := v_earlier.answer_status;
            detail := v_earlier.answer_headers;
            body := v_earlier.answer_body;
          END IF;
          RETURN;
        END IF;
      END IF;

      IF v_frozen THEN
        code := 7;
        RETURN;
      END IF;

      amount := p_hold;
      code := 0;
      IF p_free_calls > 0 THEN
        SELECT f.used INTO free_left FROM free_tier_usage f
        WHERE f.consumer_id = p_consumer AND f.tool_id = p_tool AND f.month = v_month;
        free_left := greatest(p_free_calls - coalesce(free_left, 0), 0);
        IF free_left > 0 THEN
          code := 1;
          amount := 0;
          free_left := free_left - 1;
          INSERT INTO free_tier_usage AS f VALUES (p_consumer, p_tool, v_month, 1)
          ON CONFLICT (consumer_id, tool_id, month) DO UPDATE SET used = f.used + 1;
        END IF;
      END IF;

      IF amount > 0 THEN
        IF available < amount THEN
          code := 2;
          RETURN;
        END IF;
        FOR v_budget IN
          SELECT b.budget_id, b.cap, b.period, b.cap - b.held
            - CASE WHEN b.period_start < budget_period_start(b.period, p_opened_at) THEN 0 ELSE b.spent END AS remaining
          FROM budgets b
          WHERE b.consumer_id = p_consumer AND (b.tool_id IS NULL OR b.tool_id = p_tool)
            AND (b.provider_id IS NULL OR b.provider_id = p_provider)
          ORDER BY b.budget_id
        LOOP
          IF v_budget.remaining < amount THEN
            code := 3;
            detail := json_build_object('id', v_budget.budget_id, 'cap', v_budget.cap::text,
              'left', greatest(v_budget.remaining, 0)::text, 'period', v_budget.period);
            RETURN;
          END IF;
          v_budget_ids := v_budget_ids || v_budget.budget_id;
        END LOOP;
        IF v_budget_ids IS NOT NULL THEN
          UPDATE budgets b
          SET held = b.held + amount,
            spent = CASE WHEN b.period_start < budget_period_start(b.period, p_opened_at) THEN 0 ELSE b.spent END,
            period_start = greatest(b.period_start, budget_period_start(b.period, p_opened_at))
          WHERE b.consumer_id = p_consumer AND b.budget_id = ANY (v_budget_ids);
        END IF;
        UPDATE wallets w SET held = w.held + amount WHERE w.consumer_id = p_consumer;
        available := available - amount;
      END IF;

      INSERT INTO calls_open (invocation_id, consumer_id, provider_id, tool_id, held, opened_at, deadline_at,
        price_version, free_calls_left, origin, free, tool_name, key_hash, request_hash, budget_ids)
      VALUES (p_invocation, p_consumer, p_provider, p_tool, amount, p_opened_at, p_deadline_at, p_price_version,
        free_left, p_origin, code = 1, p_tool_name, p_key, p_request, v_budget_ids);
    END $$`
})
