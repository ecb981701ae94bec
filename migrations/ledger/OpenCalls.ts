/**
 * The function that opens calls, one or a batch, by the rule of `domain/metering/CallRules.ts`. For the rules of locking
 * and performance see `LockWallets.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { covered, lockWallets } from "./LockWallets.ts"

/**
 * Writes the calls that `c` ranges over: one call from variables, or any number from an array. `budgets`: whether those of
 * each call are known, after its lowest level in `budget_ids`.
 */
const insert = (calls: string, budgets: "true" | "false" | "v_decided"): string => `
  INSERT INTO calls_open (invocation_id, consumer_id, provider_id, tool_id, held, opened_at, deadline_at, price_version,
    free_calls_left, origin, fee_bps, free, tool_name, key_hash, request_hash, level_id, budget_ids)
  SELECT c.invocation_id, c.consumer_id, c.provider_id, c.tool_id, c.held, to_timestamp(c.opened_ms::float8 / 1000),
    to_timestamp(c.deadline_ms::float8 / 1000), c.price_version, c.free_calls_left, c.origin, c.fee_bps, c.free,
    c.tool_name, c.key_hash, c.request_hash, c.budget_ids[1],
    CASE WHEN ${budgets} AND cardinality(c.budget_ids) > 1 THEN c.budget_ids[2:] END
  FROM ${calls};`

const countFree = (rows: string): string => `
  INSERT INTO free_tier_usage AS f (consumer_id, tool_id, month, used) ${rows}
  ON CONFLICT (consumer_id, tool_id, month) DO UPDATE SET used = f.used + excluded.used;`

/** The beginning of a budget's period in which the call is opened. The numbers are those of `PERIOD_CODE`. */
const PERIOD_START =
  "CASE WHEN b.period = 1 THEN v_today WHEN b.period = 2 THEN v_this_month WHEN b.period = 4 THEN v_this_hour " +
  "WHEN b.period = 5 THEN v_this_week ELSE '-infinity' END"

/** An amount that counts in the period in which the call is opened. */
const current = (amount: string): string => `CASE WHEN b.period_start < ${PERIOD_START} THEN 0 ELSE ${amount} END`

const ONE = "(SELECT p_call.*) c"
const MANY = "unnest(p_calls) c"

export const openCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The keys of a batch that are in use or come twice. A join, because Citus plans no subquery for each of them; by index,
  // whatever the planner knows of tables that were nearly empty. Another consumer may have a key that is returned here.
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION known_keys(p_wallets uuid[], p_calls call_opening[]) RETURNS bytea[]
  LANGUAGE plpgsql STABLE SET enable_hashjoin = off SET enable_mergejoin = off AS $$
    DECLARE
      v_consumers uuid[];
      v_keys bytea[];
      v_known bytea[];
      v_open bytea[];
      v_kept bytea[];
    BEGIN
      SELECT array_agg(c.consumer_id), array_agg(c.key_hash), array_agg(c.key_hash) FILTER (WHERE c.calls > 1)
      INTO v_consumers, v_keys, v_known
      FROM (SELECT consumer_id, key_hash, count(*) AS calls FROM unnest(p_calls) WHERE key_hash IS NOT NULL GROUP BY 1, 2) c;
      SELECT array_agg(o.key_hash) INTO v_open
      FROM unnest(v_consumers, v_keys) AS c (consumer_id, key_hash)
      JOIN calls_open o ON o.consumer_id = c.consumer_id AND o.key_hash = c.key_hash;
      SELECT array_agg(k.key_hash) INTO v_kept
      FROM unnest(v_consumers, v_keys) AS c (consumer_id, key_hash)
      JOIN call_idempotency k ON k.consumer_id = c.consumer_id AND k.key_hash = c.key_hash;
      RETURN v_known || v_open || v_kept;
    END $$`)

  // p_again: an earlier attempt may have committed. p_keyed, p_tiered: some call has an idempotency key, a free tier.
  // p_prices_held: whether `calls_close` of the same statement holds the prices, and so locked the wallets. p_wallets: sorted,
  // each once; null for a single call. p_prices: the total price of each wallet's calls, null where it has none.
  //
  // Returns the available balance of each wallet before, unless its prices were held already, and for each call its code, the
  // available balance after it, the free calls left, and details; null where every call was opened at its price. body: of a
  // replay, for a single call only, because the kept responses of a batch may exceed the size of a message.
  //
  // Codes: 0 opened, 1 opened free, 2 insufficient funds, 3 budget exceeded, 4 replay, 5 idempotency conflict, 6 in
  // flight, 7 account frozen.
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION calls_open(
    p_again boolean, p_keyed boolean, p_tiered boolean, p_prices_held boolean, p_call call_opening, p_wallets uuid[], p_prices int8[],
    p_calls call_opening[],
    OUT before int8[], OUT codes smallint[], OUT available int8[], OUT free_left int4[], OUT details text[], OUT body bytea
  ) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_single constant boolean := p_wallets IS NULL;
      v_locked uuid[] := CASE WHEN p_prices_held THEN p_wallets END;
      v_available int8[];
      v_holds int8[];
      v_stepwise boolean;
      v_frozen boolean[];
      v_budgeted boolean[];
      v_used int4[];
      v_free_used int4;
      v_known boolean := false;
      v_known_keys bytea[];
      v_opened call_opening[];
      v_again boolean := false;
      v_code smallint;
      v_detail text;
      v_i int := 0;
      v_opened_at timestamptz;
      v_ahead timestamptz;
      v_today timestamptz;
      v_this_month timestamptz;
      v_this_hour timestamptz;
      v_this_week timestamptz;
      v_levels uuid[];
      v_decided boolean := false;
      v_month date;
      v_some_free boolean := false;
      v_some_held boolean := true;
      v_earlier record;
      v_budget record;
    BEGIN
      IF v_single THEN
        IF NOT (p_again OR p_tiered) THEN
          UPDATE wallets w SET held = w.held + p_call.held
          WHERE w.consumer_id = p_call.consumer_id AND NOT w.frozen AND NOT w.budgeted
            AND w.credits - w.debits - w.held >= p_call.held
          RETURNING ARRAY[w.credits - w.debits - w.held + p_call.held] INTO before;
          IF FOUND THEN
            IF p_keyed THEN
              v_known := EXISTS (SELECT FROM calls_open o
                  WHERE o.consumer_id = p_call.consumer_id AND o.key_hash = p_call.key_hash)
                OR EXISTS (SELECT FROM call_idempotency k
                  WHERE k.consumer_id = p_call.consumer_id AND k.key_hash = p_call.key_hash);
            END IF;
            IF NOT v_known THEN
              ${insert(ONE, "false")}
              RETURN;
            END IF;
            -- Takes the hold back: the key decides.
            UPDATE wallets w SET held = w.held - p_call.held WHERE w.consumer_id = p_call.consumer_id;
          END IF;
        END IF;
        SELECT ARRAY[w.credits - w.debits - w.held], ARRAY[w.frozen], ARRAY[w.budgeted] INTO before, v_frozen, v_budgeted
        FROM wallets w WHERE w.consumer_id = p_call.consumer_id FOR NO KEY UPDATE;
        p_calls := ARRAY[p_call];
        p_wallets := ARRAY[p_call.consumer_id];
        v_locked := CASE WHEN FOUND THEN p_wallets END;
        v_known_keys := CASE WHEN p_keyed THEN ARRAY[p_call.key_hash] END;
      END IF;

      ${lockWallets(
        `, array_agg(l.frozen), array_agg(l.budgeted), NOT ${covered("0")}`,
        ", v_frozen, v_budgeted, v_stepwise"
      )}

      IF p_keyed AND NOT v_single THEN
        v_known_keys := known_keys(p_wallets, p_calls);
      END IF;
      IF p_prices_held AND v_known_keys IS NOT NULL THEN
        -- Takes the holds back: the keys decide. No wallet is frozen or budgeted, or they would not be held.
        UPDATE wallets w SET held = w.held - p_prices[width_bucket(w.consumer_id, p_wallets)]
        WHERE w.consumer_id = ANY (p_wallets) AND p_prices[width_bucket(w.consumer_id, p_wallets)] > 0;
        SELECT array_agg(w.credits - w.debits - w.held ORDER BY w.consumer_id) INTO before
        FROM wallets w WHERE w.consumer_id = ANY (p_wallets);
        p_prices_held := false;
      END IF;

      -- Where every wallet covers its calls and nothing else decides, each call is opened at its price.
      v_holds := p_prices;
      IF v_single OR p_again OR p_tiered OR v_stepwise OR v_known_keys IS NOT NULL THEN
        v_available := before;
        v_opened := '{}';
        v_decided := true;
        v_some_held := false;
        v_holds := array_fill(0::int8, ARRAY[cardinality(p_wallets)]);
        FOREACH p_call IN ARRAY p_calls LOOP
          v_i := v_i + 1;
          v_code := 0;
          v_again := false;
          v_detail := NULL;
          v_levels := p_call.budget_ids;
          p_call.budget_ids := ARRAY[v_levels[1]];
          <<decide>>
          BEGIN
            IF p_again THEN
              SELECT o.free, o.free_calls_left INTO v_earlier FROM calls_open o
              WHERE o.invocation_id = p_call.invocation_id AND o.consumer_id = p_call.consumer_id;
              IF FOUND THEN
                v_again := true;
                v_code := v_earlier.free::int;
                p_call.free_calls_left := v_earlier.free_calls_left;
                EXIT decide;
              END IF;
              IF (SELECT 1 FROM receipts r
                WHERE r.receipt_id = p_call.invocation_id AND r.consumer_id = p_call.consumer_id LIMIT 1) = 1
              THEN
                RAISE EXCEPTION 'call % was opened and swept before its opening was confirmed', p_call.invocation_id;
              END IF;
            END IF;

            IF p_call.key_hash = ANY (v_known_keys) THEN
              SELECT e.* INTO v_earlier FROM (
                SELECT k.request_hash, k.invocation_id, k.answer_status, k.answer_headers, k.answer_body
                FROM call_idempotency k WHERE k.consumer_id = p_call.consumer_id AND k.key_hash = p_call.key_hash
                UNION ALL
                SELECT o.request_hash, o.invocation_id, NULL, NULL, NULL
                FROM calls_open o WHERE o.consumer_id = p_call.consumer_id AND o.key_hash = p_call.key_hash
                UNION ALL
                SELECT c.request_hash, c.invocation_id, NULL, NULL, NULL FROM unnest(v_opened) c
                WHERE c.consumer_id = p_call.consumer_id AND c.key_hash = p_call.key_hash
              ) e LIMIT 1;
              IF FOUND THEN
                IF v_earlier.request_hash <> p_call.request_hash THEN
                  v_code := 5;
                ELSIF v_earlier.answer_status IS NULL THEN
                  v_code := 6;
                  v_detail := v_earlier.invocation_id;
                ELSE
                  v_code := 4;
                  IF v_single THEN
                    v_detail := json_build_object('status', v_earlier.answer_status, 'headers', v_earlier.answer_headers);
                    body := v_earlier.answer_body;
                  END IF;
                END IF;
                EXIT decide;
              END IF;
            END IF;

            IF v_frozen[p_call.wallet] THEN
              v_code := 7;
              EXIT decide;
            END IF;

            IF p_call.tier IS NOT NULL THEN
              v_month := date_trunc('month', to_timestamp(p_call.opened_ms::float8 / 1000) AT TIME ZONE 'UTC');
              IF v_used[p_call.tier] IS NULL THEN
                SELECT f.used INTO v_free_used FROM free_tier_usage f
                WHERE f.consumer_id = p_call.consumer_id AND f.tool_id = p_call.tool_id AND f.month = v_month;
                v_used[p_call.tier] := coalesce(v_free_used, 0);
              END IF;
              IF v_used[p_call.tier] < p_call.free_calls THEN
                v_code := 1;
                v_some_free := true;
                v_used[p_call.tier] := v_used[p_call.tier] + 1;
                p_call.held := 0;
                p_call.free := true;
              END IF;
              p_call.free_calls_left := greatest(p_call.free_calls - v_used[p_call.tier], 0);
            END IF;

            IF p_call.held > v_available[p_call.wallet] THEN
              v_code := 2;
              EXIT decide;
            END IF;

            IF v_budgeted[p_call.wallet] AND p_call.held > 0 THEN
              v_opened_at := to_timestamp(p_call.opened_ms::float8 / 1000);
              v_ahead := v_opened_at;
              LOOP
                v_today := date_trunc('day', v_opened_at, 'UTC');
                v_this_month := date_trunc('month', v_opened_at, 'UTC');
                v_this_hour := date_trunc('hour', v_opened_at, 'UTC');
                v_this_week := date_trunc('week', v_opened_at, 'UTC');
                FOR v_budget IN
                  SELECT b.budget_id, b.level_id, b.cap, b.period, b.period_start, ${current("b.held")} AS held,
                    ${current("b.spent")} AS spent
                  FROM (
                    -- Not with OR: a generic plan then reads the budgets of all runs that the account ever had.
                    SELECT a.* FROM budgets a WHERE a.consumer_id = p_call.consumer_id AND a.level_id IS NULL
                    UNION ALL
                    SELECT a.* FROM budgets a WHERE a.consumer_id = p_call.consumer_id AND a.level_id = ANY (v_levels)
                  ) b
                  WHERE (b.tool_id IS NULL OR b.tool_id = p_call.tool_id)
                    AND (b.provider_id IS NULL OR b.provider_id = p_call.provider_id)
                  ORDER BY array_position(v_levels, b.level_id) DESC, b.budget_id
                LOOP
                  IF v_code = 0 AND v_budget.cap - v_budget.spent - v_budget.held < p_call.held THEN
                    v_code := 3;
                    -- left and period are for nodes of the release before, which know the periods 1 to 3.
                    v_detail := json_build_object('id', v_budget.budget_id, 'level', v_budget.level_id, 'of', v_budget.period,
                      'cap', v_budget.cap::text, 'spent', v_budget.spent::text, 'held', v_budget.held::text,
                      'left', greatest(v_budget.cap - v_budget.spent - v_budget.held, 0)::text,
                      'period', least(v_budget.period, 3));
                  END IF;
                  p_call.budget_ids := p_call.budget_ids || v_budget.budget_id;
                  IF v_budget.period <> 3 THEN
                    v_ahead := greatest(v_ahead, v_budget.period_start);
                  END IF;
                END LOOP;
                EXIT decide WHEN v_ahead = v_opened_at AND v_code = 3;
                EXIT WHEN v_ahead = v_opened_at;
                -- Another node's clock is ahead: the call counts as opened where that node's period begins.
                v_opened_at := v_ahead;
                v_code := 0;
                p_call.opened_ms := ceil(extract(epoch FROM v_ahead) * 1000);
                p_call.budget_ids := p_call.budget_ids[1:1];
              END LOOP;
              UPDATE budgets b
              SET held = p_call.held + ${current("b.held")}, spent = ${current("b.spent")},
                period_start = greatest(b.period_start, ${PERIOD_START})
              WHERE b.consumer_id = p_call.consumer_id AND b.budget_id = ANY (p_call.budget_ids[2:]);
            END IF;
            IF p_call.held > 0 THEN
              v_some_held := true;
              v_available[p_call.wallet] := v_available[p_call.wallet] - p_call.held;
              v_holds[p_call.wallet] := v_holds[p_call.wallet] + p_call.held;
            END IF;
          END decide;
          IF v_code <= 1 AND NOT v_again AND NOT v_single THEN
            v_opened := v_opened || p_call;
          END IF;
          codes[v_i] := v_code;
          available[v_i] := v_available[p_call.wallet];
          free_left[v_i] := p_call.free_calls_left;
          details[v_i] := v_detail;
        END LOOP;
        p_calls := v_opened;
      END IF;

      IF v_some_held AND NOT p_prices_held THEN
        UPDATE wallets w SET held = w.held + v_holds[width_bucket(w.consumer_id, p_wallets)]
        WHERE w.consumer_id = ANY (p_wallets) AND v_holds[width_bucket(w.consumer_id, p_wallets)] > 0;
      END IF;
      IF NOT v_single THEN
        ${insert(MANY, "v_decided")}
      ELSIF v_code <= 1 AND NOT v_again THEN
        ${insert(ONE, "true")}
      END IF;
      IF v_some_free AND v_single THEN
        ${countFree("VALUES (p_call.consumer_id, p_call.tool_id, v_month, 1)")}
      ELSIF v_some_free THEN
        ${countFree(`SELECT c.consumer_id, c.tool_id,
          date_trunc('month', to_timestamp(c.opened_ms::float8 / 1000) AT TIME ZONE 'UTC')::date, count(*)
        FROM ${MANY} WHERE c.free GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)}
      END IF;
    END $$`)
})
