/**
 * The function that closes a batch of calls. For its rules of locking and performance see OpenCalls.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const closeCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Any number of closings, sorted by receipt. A receipt that is already stored byte for byte gets the result of the
  // first time, because a batch may be sent again. Codes: 0 closed, 1 closed before; null where all are 0. amounts is
  // what was held, null for calls that were not closed now.
  yield* sql`CREATE OR REPLACE FUNCTION calls_close_batch(
    p_wallets uuid[], p_w int[], p_receipts uuid[], p_providers uuid[], p_tools uuid[], p_tool_names text[],
    p_called timestamptz[], p_created timestamptz[], p_durations int[], p_costs int8[], p_fees int8[],
    p_statuses smallint[], p_signatures bytea[], p_price_versions int[], p_origins smallint[],
    p_request_bytes int[], p_response_bytes int[], p_tokens_input int[], p_tokens_output int[], p_free_used boolean[],
    p_answer_statuses smallint[], p_answer_headers text[], p_answer_bodies bytea[]
  ) RETURNS TABLE (available int8[], codes smallint[], amounts int8[], free_left int[], alone_available int8[],
    details text[], bodies bytea[])
  LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_locked uuid[];
      v_available int8[];
      v_ids uuid[];
      v_consumers uuid[];
      v_held int8[];
      v_keys bytea[];
      v_requests bytea[];
      v_months date[];
      v_budgets text[];
      v_keyed boolean;
      v_free boolean;
      v_budgeted boolean;
      v_codes smallint[];
      v_costs int8[] := array_fill(0::int8, ARRAY[cardinality(p_wallets)]);
      v_releases int8[] := v_costs;
      v_total record;
    BEGIN
      SELECT array_agg(l.consumer_id), array_agg(l.available) INTO v_locked, v_available
      FROM (SELECT w.consumer_id, w.credits - w.debits - w.held AS available FROM wallets w
        WHERE w.consumer_id = ANY (p_wallets) ORDER BY w.consumer_id FOR NO KEY UPDATE) l;
      IF v_locked IS DISTINCT FROM p_wallets THEN
        RAISE EXCEPTION 'the wallets of a batch exist, and come sorted, each once' USING ERRCODE = 'check_violation';
      END IF;

      WITH gone AS (
        DELETE FROM calls_open o WHERE o.invocation_id = ANY (p_receipts)
        RETURNING o.*, CASE WHEN o.free THEN date_trunc('month', o.opened_at, 'UTC') AT TIME ZONE 'UTC' END::date AS month
      )
      SELECT array_agg(g.invocation_id), array_agg(g.consumer_id), array_agg(g.held), array_agg(g.key_hash),
        array_agg(g.request_hash), array_agg(g.month), array_agg(g.budget_ids::text),
        bool_or(g.key_hash IS NOT NULL), bool_or(g.free), bool_or(g.budget_ids IS NOT NULL)
      INTO v_ids, v_consumers, v_held, v_keys, v_requests, v_months, v_budgets, v_keyed, v_free, v_budgeted
      FROM (SELECT * FROM gone ORDER BY invocation_id) g;

      -- Some were closed before: match the calls that were still open to their receipts.
      IF v_ids IS DISTINCT FROM p_receipts THEN
        SELECT array_agg(g.consumer_id ORDER BY i.ord), array_agg(g.held ORDER BY i.ord),
          array_agg(g.key_hash ORDER BY i.ord), array_agg(g.request_hash ORDER BY i.ord),
          array_agg(g.month ORDER BY i.ord), array_agg(g.budgets ORDER BY i.ord),
          array_agg(CASE WHEN g.held IS NOT NULL OR i.kept = i.signature THEN 0 WHEN i.kept IS NOT NULL THEN 1 END::smallint
            ORDER BY i.ord)
        INTO v_consumers, v_held, v_keys, v_requests, v_months, v_budgets, v_codes
        FROM (SELECT i.*, (SELECT r.signature FROM receipts r
            WHERE r.receipt_id = i.receipt_id AND r.consumer_id = p_wallets[i.w] LIMIT 1) AS kept
          FROM unnest(p_receipts, p_w, p_signatures) WITH ORDINALITY AS i (receipt_id, w, signature, ord)) i
        LEFT JOIN unnest(v_ids, v_consumers, v_held, v_keys, v_requests, v_months, v_budgets)
          AS g (invocation_id, consumer_id, held, key_hash, request_hash, month, budgets)
          ON g.invocation_id = i.receipt_id;
      END IF;
      IF array_position(v_codes, NULL) > 0 OR EXISTS (
        SELECT FROM unnest(p_w, p_costs, v_consumers, v_held) AS c (w, cost, consumer_id, held)
        WHERE c.cost > c.held OR c.consumer_id <> p_wallets[c.w]
      ) THEN
        RAISE EXCEPTION 'a closing names a call that was never opened, another consumer''s, or costs more than was held'
          USING ERRCODE = 'check_violation';
      END IF;

      INSERT INTO transfers (transfer_id, consumer_id, provider_id, amount, effective_at, recorded_at, leg, kind, debit, credit)
      SELECT c.receipt_id, p_wallets[c.w], c.provider_id, CASE leg.n WHEN 1 THEN c.cost - c.fee ELSE c.fee END,
        c.called_at, c.created_at, leg.n, leg.n, 1, leg.n + 1
      FROM unnest(p_w, p_receipts, p_providers, p_costs, p_fees, p_called, p_created, v_held)
          AS c (w, receipt_id, provider_id, cost, fee, called_at, created_at, held),
        (VALUES (1), (2)) AS leg (n)
      WHERE c.held IS NOT NULL AND CASE leg.n WHEN 1 THEN c.cost - c.fee ELSE c.fee END > 0;

      INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee, duration_ms,
        price_version, request_bytes, response_bytes, tokens_input, tokens_output, status, origin, signature, tool_name)
      SELECT c.receipt_id, p_wallets[c.w], c.provider_id, c.tool_id, c.called_at, c.created_at, c.cost, c.fee, c.duration_ms,
        c.price_version, c.request_bytes, c.response_bytes, c.tokens_input, c.tokens_output, c.status, c.origin, c.signature,
        c.tool_name
      FROM unnest(p_w, p_receipts, p_providers, p_tools, p_tool_names, p_called, p_created, p_durations, p_costs, p_fees,
          p_statuses, p_signatures, p_price_versions, p_origins, p_request_bytes, p_response_bytes, p_tokens_input,
          p_tokens_output, v_held)
        AS c (w, receipt_id, provider_id, tool_id, tool_name, called_at, created_at, duration_ms, cost, fee, status,
          signature, price_version, origin, request_bytes, response_bytes, tokens_input, tokens_output, held)
      WHERE c.held IS NOT NULL;

      FOR v_total IN
        SELECT c.w, sum(c.cost)::int8 AS cost, sum(c.held)::int8 AS held
        FROM unnest(p_w, p_costs, v_held) AS c (w, cost, held) WHERE c.held > 0 GROUP BY c.w
      LOOP
        v_costs[v_total.w] := v_total.cost;
        v_releases[v_total.w] := v_total.held;
      END LOOP;
      UPDATE wallets w SET debits = w.debits + v_costs[width_bucket(w.consumer_id, p_wallets)],
        held = w.held - v_releases[width_bucket(w.consumer_id, p_wallets)]
      WHERE w.consumer_id = ANY (p_wallets) AND v_releases[width_bucket(w.consumer_id, p_wallets)] > 0;

      INSERT INTO account_balances AS b (owner_id, account, day, lane, credits)
      SELECT CASE a.account WHEN 2 THEN c.provider_id ELSE '00000000-0000-0000-0000-000000000000' END, a.account,
        CASE a.account WHEN 2 THEN (c.created_at AT TIME ZONE 'UTC')::date ELSE '1970-01-01' END,
        pg_backend_pid() % 31 + 1, sum(CASE a.account WHEN 2 THEN c.cost - c.fee ELSE c.fee END)
      FROM unnest(p_providers, p_created, p_costs, p_fees, v_held) AS c (provider_id, created_at, cost, fee, held),
        (VALUES (2), (3)) AS a (account)
      WHERE c.held IS NOT NULL AND CASE a.account WHEN 2 THEN c.cost - c.fee ELSE c.fee END > 0
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      ON CONFLICT (owner_id, account, day, lane) DO UPDATE SET credits = b.credits + excluded.credits;

      INSERT INTO usage_hourly AS u
      SELECT p_wallets[c.w], date_bin('1 hour', c.called_at, timestamptz '2000-01-01Z'), c.tool_id, c.provider_id, count(*),
        count(*) FILTER (WHERE c.status = 1), count(*) FILTER (WHERE c.status = 3), sum(c.cost), sum(c.fee),
        sum(c.duration_ms), sum(c.request_bytes), sum(c.response_bytes), sum(c.tokens_input), sum(c.tokens_output)
      FROM unnest(p_w, p_tools, p_providers, p_called, p_statuses, p_durations, p_costs, p_fees, p_request_bytes,
          p_response_bytes, p_tokens_input, p_tokens_output, v_held)
        AS c (w, tool_id, provider_id, called_at, status, duration_ms, cost, fee, request_bytes, response_bytes,
          tokens_input, tokens_output, held)
      WHERE c.held IS NOT NULL
      GROUP BY c.w, 2, 3, 4 ORDER BY c.w, 2, 3, 4
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
          FROM unnest(p_w, v_held, p_costs, v_budgets) AS c (w, held, cost, budgets), unnest(c.budgets::uuid[]) id
          GROUP BY 1, 2) g
        WHERE b.consumer_id = ANY (p_wallets) AND b.consumer_id = p_wallets[g.w] AND b.budget_id = g.id;
      END IF;

      IF v_keyed THEN
        INSERT INTO call_idempotency (consumer_id, key_hash, request_hash, invocation_id, created_at, answer_status,
          answer_headers, answer_body)
        SELECT p_wallets[c.w], c.key_hash, c.request_hash, c.receipt_id, c.created_at, c.answer_status, c.answer_headers,
          c.answer_body
        FROM unnest(p_w, v_keys, v_requests, p_receipts, p_created, p_costs, p_answer_statuses, p_answer_headers,
            p_answer_bodies)
          AS c (w, key_hash, request_hash, receipt_id, created_at, cost, answer_status, answer_headers, answer_body)
        WHERE c.key_hash IS NOT NULL AND (c.answer_status IS NOT NULL OR c.cost > 0);
      END IF;
      RETURN QUERY SELECT v_available, v_codes, v_held, NULL::int[], NULL::int8[], NULL::text[], NULL::bytea[];
    END $$`
})
