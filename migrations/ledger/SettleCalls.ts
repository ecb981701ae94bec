/**
 * The function that closes and opens calls in one statement. Compared with `calls_close_batch` and a separate opening,
 * ordinary calls take 7 statements instead of 16, and one lock and one update of the wallets instead of two. For its
 * rules of locking and performance see OpenCalls.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const settleCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Closings are sorted by receipt. A receipt that is already stored byte for byte gets the result of the first time,
  // because a batch may be sent again. Openings may hold what closings release. Where a wallet covers all of its
  // openings, they are opened together. Otherwise (a budget, a freeze, a known key, insufficient funds, a batch sent
  // again) that wallet's openings run one at a time, in order. Openings of one consumer, tool and month share a free
  // tier; p_ranks numbers them within it. p_receipts and p_invocations are null where there are none.
  //
  // p_debits and p_held_changes are the changes of each wallet in the expected case: p_expected_held was held for the
  // closings, every one of them closes now, and every opening is held for. In that case they are used as given.
  // Otherwise they are computed here, which is slow.
  //
  // Returns the available balance of each wallet before the batch. For closings: what was held, null for calls that
  // were not closed now, and codes: 0 closed, 1 closed before. For openings: the results of call_open_alone, except
  // kept responses, because those of a batch may exceed the size of a message. Codes are null where all are 0.
  yield* sql`CREATE OR REPLACE FUNCTION calls_settle_batch(
    p_wallets uuid[], p_again boolean, p_debits int8[], p_held_changes int8[], p_expected_held int8[],
    p_w int[], p_receipts uuid[], p_providers uuid[], p_tools uuid[], p_tool_names text[], p_called timestamptz[],
    p_created timestamptz[], p_durations int[], p_costs int8[], p_fees int8[], p_statuses smallint[], p_signatures bytea[],
    p_price_versions int[], p_origins smallint[], p_request_bytes int[], p_response_bytes int[], p_tokens_input int[],
    p_tokens_output int[], p_free_used boolean[], p_answer_statuses smallint[], p_answer_headers text[],
    p_answer_bodies bytea[],
    p_open_w int[], p_invocations uuid[], p_open_providers uuid[], p_open_tools uuid[], p_open_tool_names text[],
    p_open_price_versions int[], p_holds int8[], p_open_origins smallint[], p_opened timestamptz[], p_deadlines timestamptz[],
    p_keys bytea[], p_requests bytea[], p_tier_of int[], p_ranks int[], p_limits int[], p_tier_w int[], p_tier_tools uuid[],
    p_tier_months date[],
    OUT available int8[], OUT closed_codes smallint[], OUT closed_held int8[], OUT codes smallint[], OUT amounts int8[],
    OUT free_left int[], OUT alone_available int8[], OUT details text[]
  ) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_locked uuid[];
      v_alone boolean[];
      v_unexpected boolean;
      v_some_alone boolean := false;
      v_ids uuid[];
      v_closed_keys bytea[];
      v_closed_requests bytea[];
      v_months date[];
      v_budgets text[];
      v_keyed boolean;
      v_free boolean;
      v_budgeted boolean;
      v_wrong boolean;
      v_debits int8[] := p_debits;
      v_holds int8[] := p_held_changes;
      v_needs int8[];
      v_used int[];
      v_w int;
      v_one record;
    BEGIN
      FOR v_try IN 1 .. 2 LOOP
        SELECT array_agg(l.consumer_id), array_agg(l.available), array_agg(l.alone),
          bool_or(l.alone OR l.available < p_debits[l.place] + p_held_changes[l.place])
        INTO v_locked, available, v_alone, v_unexpected
        FROM (SELECT w.consumer_id, w.credits - w.debits - w.held AS available, w.budgeted OR w.frozen OR p_again AS alone,
            width_bucket(w.consumer_id, p_wallets) AS place
          FROM wallets w WHERE w.consumer_id = ANY (p_wallets) ORDER BY w.consumer_id FOR NO KEY UPDATE) l;
        EXIT WHEN v_locked = p_wallets OR p_invocations IS NULL;
        INSERT INTO wallets (consumer_id) SELECT id FROM unnest(p_wallets) id ORDER BY id ON CONFLICT DO NOTHING;
      END LOOP;
      IF v_locked IS DISTINCT FROM p_wallets THEN
        RAISE EXCEPTION 'the wallets of a batch come sorted, each once, and those of closings exist'
          USING ERRCODE = 'check_violation';
      END IF;

      IF p_receipts IS NOT NULL THEN
        WITH gone AS (
          DELETE FROM calls_open o WHERE o.invocation_id = ANY (p_receipts)
          RETURNING o.invocation_id, o.held, o.key_hash, o.request_hash, o.budget_ids, o.free,
            CASE WHEN o.free THEN date_trunc('month', o.opened_at, 'UTC') AT TIME ZONE 'UTC' END::date AS month,
            o.consumer_id <> p_wallets[p_w[width_bucket(o.invocation_id, p_receipts)]]
              OR o.held < p_costs[width_bucket(o.invocation_id, p_receipts)] AS wrong
        )
        SELECT array_agg(g.invocation_id), array_agg(g.held), array_agg(g.key_hash), array_agg(g.request_hash),
          array_agg(g.month), array_agg(g.budget_ids::text),
          bool_or(g.key_hash IS NOT NULL), bool_or(g.free), bool_or(g.budget_ids IS NOT NULL), bool_or(g.wrong)
        INTO v_ids, closed_held, v_closed_keys, v_closed_requests, v_months, v_budgets,
          v_keyed, v_free, v_budgeted, v_wrong
        FROM (SELECT * FROM gone ORDER BY invocation_id) g;

        -- Some were closed before: match the calls that were still open to their receipts.
        IF v_ids IS DISTINCT FROM p_receipts THEN
          SELECT array_agg(g.held ORDER BY i.ord), array_agg(g.key_hash ORDER BY i.ord),
            array_agg(g.request_hash ORDER BY i.ord), array_agg(g.month ORDER BY i.ord), array_agg(g.budgets ORDER BY i.ord),
            array_agg(CASE WHEN g.held IS NOT NULL OR i.kept = i.signature THEN 0 WHEN i.kept IS NOT NULL THEN 1 END::smallint
              ORDER BY i.ord)
          INTO closed_held, v_closed_keys, v_closed_requests, v_months, v_budgets, closed_codes
          FROM (SELECT i.*, (SELECT r.signature FROM receipts r
              WHERE r.receipt_id = i.receipt_id AND r.consumer_id = p_wallets[i.w] LIMIT 1) AS kept
            FROM unnest(p_receipts, p_w, p_signatures) WITH ORDINALITY AS i (receipt_id, w, signature, ord)) i
          LEFT JOIN unnest(v_ids, closed_held, v_closed_keys, v_closed_requests, v_months, v_budgets)
            AS g (invocation_id, held, key_hash, request_hash, month, budgets)
            ON g.invocation_id = i.receipt_id;
        END IF;
        IF v_wrong OR array_position(closed_codes, NULL) > 0 THEN
          RAISE EXCEPTION 'a closing names a call that was never opened, another consumer''s, or costs more than was held'
            USING ERRCODE = 'check_violation';
        END IF;
        v_unexpected := v_unexpected OR closed_codes IS NOT NULL OR closed_held IS DISTINCT FROM p_expected_held;

        WITH issued AS (
          INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee, duration_ms,
            price_version, request_bytes, response_bytes, tokens_input, tokens_output, status, origin, signature, tool_name)
          SELECT c.receipt_id, p_wallets[c.w], c.provider_id, c.tool_id, c.called_at, c.created_at, c.cost, c.fee,
            c.duration_ms, c.price_version, c.request_bytes, c.response_bytes, c.tokens_input, c.tokens_output, c.status,
            c.origin, c.signature, c.tool_name
          FROM unnest(p_w, p_receipts, p_providers, p_tools, p_tool_names, p_called, p_created, p_durations, p_costs, p_fees,
              p_statuses, p_signatures, p_price_versions, p_origins, p_request_bytes, p_response_bytes, p_tokens_input,
              p_tokens_output, closed_held)
            AS c (w, receipt_id, provider_id, tool_id, tool_name, called_at, created_at, duration_ms, cost, fee, status,
              signature, price_version, origin, request_bytes, response_bytes, tokens_input, tokens_output, held)
          WHERE c.held IS NOT NULL
          RETURNING receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee, duration_ms,
            request_bytes, response_bytes, tokens_input, tokens_output, status
        ), moved AS (
          INSERT INTO transfers (transfer_id, consumer_id, provider_id, amount, effective_at, recorded_at, leg, kind, debit,
            credit)
          SELECT c.receipt_id, c.consumer_id, c.provider_id, CASE leg.n WHEN 1 THEN c.cost - c.fee ELSE c.fee END,
            c.called_at, c.created_at, leg.n, leg.n, 1, leg.n + 1
          FROM issued c, (VALUES (1), (2)) AS leg (n)
          WHERE CASE leg.n WHEN 1 THEN c.cost - c.fee ELSE c.fee END > 0
        ), earned AS (
          INSERT INTO account_balances AS b (owner_id, account, day, lane, credits)
          SELECT CASE a.account WHEN 2 THEN c.provider_id ELSE '00000000-0000-0000-0000-000000000000' END, a.account,
            CASE a.account WHEN 2 THEN (c.created_at AT TIME ZONE 'UTC')::date ELSE '1970-01-01' END,
            pg_backend_pid() % 31 + 1, sum(CASE a.account WHEN 2 THEN c.cost - c.fee ELSE c.fee END)
          FROM issued c, (VALUES (2), (3)) AS a (account)
          WHERE CASE a.account WHEN 2 THEN c.cost - c.fee ELSE c.fee END > 0
          GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
          ON CONFLICT (owner_id, account, day, lane) DO UPDATE SET credits = b.credits + excluded.credits
        )
        INSERT INTO usage_hourly AS u
        SELECT c.consumer_id, date_bin('1 hour', c.called_at, timestamptz '2000-01-01Z'), c.tool_id, c.provider_id, count(*),
          count(*) FILTER (WHERE c.status = 1), count(*) FILTER (WHERE c.status = 3), sum(c.cost), sum(c.fee),
          sum(c.duration_ms), sum(c.request_bytes), sum(c.response_bytes), sum(c.tokens_input), sum(c.tokens_output)
        FROM issued c
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
        ON CONFLICT (consumer_id, hour, tool_id, provider_id) DO UPDATE SET
          calls = u.calls + excluded.calls, successes = u.successes + excluded.successes,
          timeouts = u.timeouts + excluded.timeouts, spend = u.spend + excluded.spend, fee = u.fee + excluded.fee,
          latency_ms = u.latency_ms + excluded.latency_ms, request_bytes = u.request_bytes + excluded.request_bytes,
          response_bytes = u.response_bytes + excluded.response_bytes,
          tokens_input = u.tokens_input + excluded.tokens_input, tokens_output = u.tokens_output + excluded.tokens_output;

        IF v_free THEN
          UPDATE free_tier_usage f SET used = f.used - g.calls
          FROM (SELECT c.w, c.tool_id, c.month, count(*)::int AS calls
            FROM unnest(p_w, p_tools, v_months, p_free_used) AS c (w, tool_id, month, used)
            WHERE c.month IS NOT NULL AND NOT c.used GROUP BY 1, 2, 3) g
          WHERE f.consumer_id = ANY (p_wallets) AND f.consumer_id = p_wallets[g.w] AND f.tool_id = g.tool_id
            AND f.month = g.month;
        END IF;

        IF v_budgeted THEN
          UPDATE budgets b SET held = b.held - g.held, spent = b.spent + g.cost
          FROM (SELECT c.w, id, sum(c.held)::int8 AS held, sum(c.cost)::int8 AS cost
            FROM unnest(p_w, closed_held, p_costs, v_budgets) AS c (w, held, cost, budgets), unnest(c.budgets::uuid[]) id
            GROUP BY 1, 2) g
          WHERE b.consumer_id = ANY (p_wallets) AND b.consumer_id = p_wallets[g.w] AND b.budget_id = g.id;
        END IF;

        IF v_keyed THEN
          INSERT INTO call_idempotency (consumer_id, key_hash, request_hash, invocation_id, created_at, answer_status,
            answer_headers, answer_body)
          SELECT p_wallets[c.w], c.key_hash, c.request_hash, c.receipt_id, c.created_at, c.answer_status, c.answer_headers,
            c.answer_body
          FROM unnest(p_w, v_closed_keys, v_closed_requests, p_receipts, p_created, p_costs, p_answer_statuses,
              p_answer_headers, p_answer_bodies)
            AS c (w, key_hash, request_hash, receipt_id, created_at, cost, answer_status, answer_headers, answer_body)
          WHERE c.key_hash IS NOT NULL AND (c.answer_status IS NOT NULL OR c.cost > 0);
        END IF;
      END IF;

      IF p_invocations IS NOT NULL THEN
        amounts := p_holds;
        IF p_keys IS NOT NULL THEN
          FOR v_w IN
            SELECT c.w FROM unnest(p_open_w, p_keys) AS c (w, key_hash) WHERE c.key_hash IS NOT NULL
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
          INTO amounts, codes, free_left
          FROM unnest(p_holds, p_tier_of, p_ranks, p_limits) AS c (hold, tier, rank, calls);
        END IF;
      END IF;

      IF v_unexpected IS NOT FALSE OR v_some_alone OR p_tier_w IS NOT NULL THEN
        v_debits := array_fill(0::int8, ARRAY[cardinality(p_wallets)]);
        v_holds := v_debits;
        v_needs := v_debits;
        FOR i IN 1 .. coalesce(cardinality(p_receipts), 0) LOOP
          IF closed_held[i] > 0 THEN
            v_debits[p_w[i]] := v_debits[p_w[i]] + p_costs[i];
            v_holds[p_w[i]] := v_holds[p_w[i]] - closed_held[i];
          END IF;
        END LOOP;
        FOR i IN 1 .. coalesce(cardinality(p_invocations), 0) LOOP
          v_needs[p_open_w[i]] := v_needs[p_open_w[i]] + amounts[i];
        END LOOP;
        FOR w IN 1 .. cardinality(p_wallets) LOOP
          IF v_needs[w] > available[w] - v_debits[w] - v_holds[w] THEN
            v_alone[w] := true;
          ELSIF NOT v_alone[w] THEN
            v_holds[w] := v_holds[w] + v_needs[w];
          END IF;
          v_some_alone := v_some_alone OR v_alone[w];
        END LOOP;
      END IF;

      UPDATE wallets w SET debits = w.debits + v_debits[width_bucket(w.consumer_id, p_wallets)],
        held = w.held + v_holds[width_bucket(w.consumer_id, p_wallets)]
      WHERE w.consumer_id = ANY (p_wallets) AND (v_debits[width_bucket(w.consumer_id, p_wallets)] <> 0
        OR v_holds[width_bucket(w.consumer_id, p_wallets)] <> 0);

      IF p_invocations IS NULL THEN
        RETURN;
      END IF;

      INSERT INTO calls_open (invocation_id, consumer_id, provider_id, tool_id, held, opened_at, deadline_at,
        price_version, free_calls_left, origin, free, tool_name, key_hash, request_hash)
      SELECT c.invocation_id, p_wallets[c.w], c.provider_id, c.tool_id, c.need, c.opened_at, c.deadline_at,
        c.price_version, c.free_left, c.origin, coalesce(c.code, 0) = 1, c.tool_name, c.key_hash, c.request_hash
      FROM unnest(p_open_w, p_invocations, p_open_providers, p_open_tools, amounts, p_opened, p_deadlines,
          p_open_price_versions, free_left, p_open_origins, codes, p_open_tool_names, p_keys, p_requests)
        AS c (w, invocation_id, provider_id, tool_id, need, opened_at, deadline_at, price_version, free_left, origin,
          code, tool_name, key_hash, request_hash)
      WHERE NOT v_alone[c.w];

      IF p_tier_w IS NOT NULL THEN
        INSERT INTO free_tier_usage AS f
        SELECT p_wallets[c.w], p_tier_tools[c.tier], p_tier_months[c.tier], count(*)
        FROM unnest(p_open_w, p_tier_of, codes) AS c (w, tier, code)
        WHERE c.code = 1 AND NOT v_alone[c.w]
        GROUP BY c.w, c.tier
        ON CONFLICT (consumer_id, tool_id, month) DO UPDATE SET used = f.used + excluded.used;
      END IF;

      IF v_some_alone THEN
        codes := coalesce(codes, array_fill(0::smallint, ARRAY[cardinality(p_invocations)]));
        free_left := coalesce(free_left, array_fill(NULL::int, ARRAY[cardinality(p_invocations)]));
        alone_available := array_fill(NULL::int8, ARRAY[cardinality(p_invocations)]);
        details := array_fill(NULL::text, ARRAY[cardinality(p_invocations)]);
        FOR i IN 1 .. cardinality(p_invocations) LOOP
          CONTINUE WHEN NOT v_alone[p_open_w[i]];
          SELECT * INTO v_one FROM call_open_alone(p_again, p_invocations[i], p_wallets[p_open_w[i]], p_open_providers[i],
            p_open_tools[i], p_open_tool_names[i], p_open_price_versions[i], p_holds[i], p_limits[i], p_open_origins[i],
            p_opened[i], p_deadlines[i], p_keys[i], p_requests[i]);
          codes[i] := v_one.code;
          amounts[i] := v_one.amount;
          free_left[i] := v_one.free_left;
          alone_available[i] := v_one.available;
          details[i] := v_one.detail;
        END LOOP;
      END IF;
    END $$`
})
