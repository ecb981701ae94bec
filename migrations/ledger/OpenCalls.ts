/**
 * Migration 0002, the functions that open calls.
 *
 * How these functions, and those that close calls, stay right and quick:
 * - Wallets are locked first and in the order of their ids, by every writer, so nodes never wait in a circle. In READ
 *   COMMITTED each statement of a function sees what was committed before it began: what is read after the lock is
 *   current, and the lock on a wallet guards its consumer's free tier, budgets, keys and open calls too.
 * - No joins to big tables: keys are looked up by "= ANY (array)" or by a scalar subquery, which can only be an index
 *   lookup. A join planned while a table was nearly empty would go on reading all of it when it is full.
 * - An item names its wallet by its place in p_wallets, which is sorted: width_bucket finds a wallet's place again.
 * - Several small statements start faster than one large one, and what no item of the batch needs is not run at all.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const openCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // One call on its own, step by step. Codes: 0 opened, 1 opened free, 2 insufficient funds, 3 budget exceeded,
  // 4 replay, 5 idempotency conflict, 6 in flight, 7 account frozen. p_again: this may have been done already, by a batch
  // whose outcome nobody saw.
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

  // Any number of calls. Where a wallet covers all of its calls they are opened together; where anything is out of the
  // ordinary (a budget, a freeze, a known key, too little money, a batch sent again) that wallet's calls go one at a time, in order.
  // Calls of one consumer, tool and month share a tier; p_ranks counts them within it. Answers for each wallet what was
  // available before, and for each call what call_open_alone answers; codes is null where all are 0.
  yield* sql`CREATE OR REPLACE FUNCTION calls_open_batch(
    p_wallets uuid[], p_again boolean, p_w int[], p_invocations uuid[], p_providers uuid[], p_tools uuid[],
    p_tool_names text[], p_price_versions int[], p_holds int8[], p_origins smallint[], p_opened timestamptz[],
    p_deadlines timestamptz[], p_keys bytea[], p_requests bytea[],
    p_tier_of int[], p_ranks int[], p_limits int[], p_tier_w int[], p_tier_tools uuid[], p_tier_months date[]
  ) RETURNS TABLE (available int8[], codes smallint[], amounts int8[], free_left int[], alone_available int8[],
    details text[], bodies bytea[])
  LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_calls constant int := cardinality(p_w);
      v_locked uuid[];
      v_available int8[];
      v_alone boolean[];
      v_some_alone boolean;
      v_used int[];
      v_needs int8[] := p_holds;
      v_codes smallint[];
      v_left int[];
      v_totals int8[] := array_fill(0::int8, ARRAY[cardinality(p_wallets)]);
      v_total record;
      v_w int;
      v_one record;
      v_alone_available int8[];
      v_details text[];
      v_bodies bytea[];
    BEGIN
      FOR v_try IN 1 .. 2 LOOP
        SELECT array_agg(l.consumer_id), array_agg(l.available), array_agg(l.alone), bool_or(l.alone)
        INTO v_locked, v_available, v_alone, v_some_alone
        FROM (SELECT w.consumer_id, w.credits - w.debits - w.held AS available, w.budgeted OR w.frozen OR p_again AS alone
          FROM wallets w WHERE w.consumer_id = ANY (p_wallets) ORDER BY w.consumer_id FOR NO KEY UPDATE) l;
        EXIT WHEN v_locked = p_wallets;
        INSERT INTO wallets (consumer_id) SELECT id FROM unnest(p_wallets) id ORDER BY id ON CONFLICT DO NOTHING;
      END LOOP;
      IF v_locked <> p_wallets THEN
        RAISE EXCEPTION 'the wallets of a batch come sorted, each once' USING ERRCODE = 'check_violation';
      END IF;

      IF p_keys IS NOT NULL THEN
        FOR v_w IN
          SELECT c.w FROM unnest(p_w, p_keys) AS c (w, key_hash) WHERE c.key_hash IS NOT NULL
          GROUP BY c.w, c.key_hash
          HAVING count(*) > 1
            OR (SELECT 1 FROM calls_open o WHERE o.consumer_id = p_wallets[c.w] AND o.key_hash = c.key_hash LIMIT 1) = 1
            OR (SELECT 1 FROM call_idempotency k WHERE k.consumer_id = p_wallets[c.w] AND k.key_hash = c.key_hash
              LIMIT 1) = 1
        LOOP
          v_alone[v_w] := true;
          v_some_alone := true;
        END LOOP;
      END IF;

      IF p_tier_w IS NOT NULL THEN
        SELECT array_agg(coalesce((SELECT f.used FROM free_tier_usage f
          WHERE f.consumer_id = p_wallets[t.w] AND f.tool_id = t.tool_id AND f.month = t.month), 0))
        INTO v_used FROM unnest(p_tier_w, p_tier_tools, p_tier_months) AS t (w, tool_id, month);
        SELECT array_agg(CASE WHEN v_used[c.tier] + c.rank <= c.calls THEN 0 ELSE c.hold END),
          array_agg(CASE WHEN v_used[c.tier] + c.rank <= c.calls THEN 1::smallint ELSE 0::smallint END),
          array_agg(greatest(c.calls - v_used[c.tier] - c.rank, 0))
        INTO v_needs, v_codes, v_left
        FROM unnest(p_holds, p_tier_of, p_ranks, p_limits) AS c (hold, tier, rank, calls);
      END IF;

      FOR v_total IN
        SELECT c.w, sum(c.need)::int8 AS need FROM unnest(p_w, v_needs) AS c (w, need) GROUP BY c.w
      LOOP
        IF v_total.need > v_available[v_total.w] THEN
          v_alone[v_total.w] := true;
          v_some_alone := true;
        ELSIF NOT v_alone[v_total.w] THEN
          v_totals[v_total.w] := v_total.need;
        END IF;
      END LOOP;

      INSERT INTO calls_open (invocation_id, consumer_id, provider_id, tool_id, held, opened_at, deadline_at,
        price_version, free_calls_left, origin, free, tool_name, key_hash, request_hash)
      SELECT c.invocation_id, p_wallets[c.w], c.provider_id, c.tool_id, c.need, c.opened_at, c.deadline_at,
        c.price_version, c.free_left, c.origin, coalesce(c.code, 0) = 1, c.tool_name, c.key_hash, c.request_hash
      FROM unnest(p_w, p_invocations, p_providers, p_tools, v_needs, p_opened, p_deadlines, p_price_versions, v_left,
          p_origins, v_codes, p_tool_names, p_keys, p_requests)
        AS c (w, invocation_id, provider_id, tool_id, need, opened_at, deadline_at, price_version, free_left, origin,
          code, tool_name, key_hash, request_hash)
      WHERE NOT v_alone[c.w];

      UPDATE wallets w SET held = w.held + v_totals[width_bucket(w.consumer_id, p_wallets)]
      WHERE w.consumer_id = ANY (p_wallets) AND v_totals[width_bucket(w.consumer_id, p_wallets)] > 0;

      IF p_tier_w IS NOT NULL THEN
        INSERT INTO free_tier_usage AS f
        SELECT p_wallets[c.w], p_tier_tools[c.tier], p_tier_months[c.tier], count(*)
        FROM unnest(p_w, p_tier_of, v_codes) AS c (w, tier, code)
        WHERE c.code = 1 AND NOT v_alone[c.w]
        GROUP BY c.w, c.tier
        ON CONFLICT (consumer_id, tool_id, month) DO UPDATE SET used = f.used + excluded.used;
      END IF;

      IF v_some_alone THEN
        v_codes := coalesce(v_codes, array_fill(0::smallint, ARRAY[v_calls]));
        v_left := coalesce(v_left, array_fill(NULL::int, ARRAY[v_calls]));
        v_alone_available := array_fill(NULL::int8, ARRAY[v_calls]);
        v_details := array_fill(NULL::text, ARRAY[v_calls]);
        v_bodies := array_fill(NULL::bytea, ARRAY[v_calls]);
        FOR i IN 1 .. v_calls LOOP
          CONTINUE WHEN NOT v_alone[p_w[i]];
          SELECT * INTO v_one FROM call_open_alone(p_again, p_invocations[i], p_wallets[p_w[i]], p_providers[i], p_tools[i],
            p_tool_names[i], p_price_versions[i], p_holds[i], p_limits[i], p_origins[i], p_opened[i], p_deadlines[i],
            p_keys[i], p_requests[i]);
          v_codes[i] := v_one.code;
          v_needs[i] := v_one.amount;
          v_left[i] := v_one.free_left;
          v_alone_available[i] := v_one.available;
          v_details[i] := v_one.detail;
          v_bodies[i] := v_one.body;
        END LOOP;
      END IF;
      RETURN QUERY SELECT v_available, v_codes, v_needs, v_left, v_alone_available, v_details, v_bodies;
    END $$`
})
