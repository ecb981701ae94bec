/**
 * The function that closes calls, one or a batch. It executes the rule of `domain/metering/CallRules.ts`. For the rules
 * of locking and performance see `LockWallets.ts`.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { covered, lockWallets } from "./LockWallets.ts"

/** How a statement reads the calls: one call from variables, or any number from arrays. */
interface Form {
  /** The closings that take effect, as `c`. */
  readonly calls: string
  /** The same, with the open call of each as `o`. */
  readonly closed: string
  /** `calls`, with the open call of each as `o` where it needs more than its receipt. */
  readonly leveled: string
  /** The consumer of the first receipt. */
  readonly first: string
  /** Comparable with a column of consumers, so that tables are only accessed by index. */
  readonly consumers: string
  readonly total: (amount: string) => string
  /** Makes one row of those that agree in the first columns, in the order of these columns. */
  readonly grouped: (columns: string) => string
}

const ONE: Form = {
  calls: "(SELECT p_call.*) c",
  closed: "(SELECT p_call.*) c, (SELECT v_open.*) o",
  leveled: "(SELECT p_call.*) c, (SELECT v_open.*) o",
  first: "p_call.consumer_id",
  consumers: "p_call.consumer_id",
  total: (amount) => amount,
  grouped: () => ""
}

const MANY: Form = {
  calls: "unnest(p_calls) c",
  closed: "unnest(p_calls) c JOIN unnest(v_opens) o ON o.invocation_id = c.receipt_id",
  leveled: "unnest(p_calls) c LEFT JOIN unnest(v_opens) o ON o.invocation_id = c.receipt_id",
  first: "v_owners[1]",
  consumers: "ANY (p_wallets)",
  total: (amount) => `sum(${amount})`,
  grouped: (columns) => `GROUP BY ${columns} ORDER BY ${columns}`
}

const CALLED_AT = "to_timestamp(c.called_ms::float8 / 1000)"
const CREATED_AT = "to_timestamp(c.created_ms::float8 / 1000)"

const receipts = (calls: string, level: string): string => `
  INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee, duration_ms,
    price_version, request_bytes, response_bytes, tokens_input, tokens_output, hold_ms, status, origin, fee_bps, signature,
    tool_name, request_id, level_id)
  SELECT c.receipt_id, c.consumer_id, c.provider_id, c.tool_id, ${CALLED_AT}, ${CREATED_AT}, c.cost, c.fee, c.duration_ms,
    c.price_version, c.request_bytes, c.response_bytes, c.tokens_input, c.tokens_output, c.hold_ms, c.status, c.origin, c.fee_bps,
    c.signature, c.tool_name, c.request_id, ${level}
  FROM ${calls};`

/** v_receipts: of the calls. v_leveled, v_free, v_budgeted, v_keyed: whether some call needs the statement. */
const settle = ({ calls, closed, consumers, first, grouped, leveled, total }: Form): string => `
  IF v_leveled THEN
    ${receipts(leveled, "o.level_id")}
  ELSE
    ${receipts(calls, "NULL")}
  END IF;

  IF v_receipts IS NOT NULL THEN
    INSERT INTO receipts_unlogged (first_receipt, consumer_id, receipt_ids)
    VALUES (v_receipts[1], ${first}, v_receipts);
  END IF;

  IF v_free THEN
    UPDATE free_tier_usage f SET used = f.used - g.calls
    FROM (SELECT c.consumer_id, c.tool_id, date_trunc('month', o.opened_at AT TIME ZONE 'UTC')::date AS month,
        ${total("1")} AS calls
      FROM ${closed} WHERE o.free AND NOT c.uses_free_call ${grouped("1, 2, 3")}) g
    WHERE f.consumer_id = ${consumers} AND f.consumer_id = g.consumer_id AND f.tool_id = g.tool_id AND f.month = g.month;
  END IF;

  IF v_budgeted THEN
    -- A hold returns to the period in which its call was opened, if that goes on. 3: total.
    v_budget_ids := ARRAY(SELECT i.budget_id FROM ${closed}, unnest(o.budget_ids) AS i (budget_id));
    UPDATE budgets b SET held = b.held - g.held, spent = b.spent + g.cost
    FROM (SELECT x.consumer_id, x.budget_id, ${total("o.held")} AS held, ${total("c.cost")} AS cost
      FROM ${closed}, unnest(o.budget_ids) AS i (budget_id), budgets x
      WHERE x.consumer_id = ${consumers} AND x.budget_id = ANY (v_budget_ids)
        AND x.consumer_id = c.consumer_id AND x.budget_id = i.budget_id
        AND (x.period = 3 OR x.period_start <= o.opened_at) ${grouped("1, 2")}) g
    WHERE b.consumer_id = ${consumers} AND b.budget_id = ANY (v_budget_ids)
      AND b.consumer_id = g.consumer_id AND b.budget_id = g.budget_id;
  END IF;

  IF v_keyed THEN
    INSERT INTO call_idempotency (consumer_id, key_hash, request_hash, invocation_id, created_at, answer_status,
      answer_headers, answer_body)
    SELECT c.consumer_id, o.key_hash, o.request_hash, c.receipt_id, ${CREATED_AT}, c.answer_status, c.answer_headers,
      p_bodies[c.place]
    FROM ${closed} WHERE o.key_hash IS NOT NULL AND (c.answer_status IS NOT NULL OR c.cost > 0);
  END IF;`

export const closeCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // p_calls: sorted by receipt. p_bodies: kept responses by place. The others are null for a single call. p_wallets:
  // those of these calls and of the openings in the same statement, sorted, each once. p_receipts, p_owners, p_held and
  // p_fees: the receipts, consumers, expected holds and fees of the calls; p_debits and p_releases: costs and expected holds by
  // wallet. Where the open calls are as expected, these totals are used as given: computing them here is slow. p_prices: by
  // wallet, what the openings in the same statement may cost, null for a wallet without any. These amounts are held here if
  // every wallet covers its own and nothing else decides; otherwise, and where p_prices is null, `calls_open` decides.
  //
  // Returns the available balance of each wallet before; what each call held, null for calls that were not closed now;
  // whether the receipt of each call is the one that closed it, null where all are; and whether p_prices are held. A receipt
  // that is already stored gets the result of the first time, because a batch may be sent again.
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION calls_close(
    p_call call_closing, p_wallets uuid[], p_debits int8[], p_releases int8[], p_receipts uuid[], p_owners uuid[],
    p_held int8[], p_fees smallint[], p_calls call_closing[], p_bodies bytea[], p_prices int8[],
    OUT before int8[], OUT holds int8[], OUT same boolean[], OUT prices_held boolean
  ) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      v_open calls_open;
      v_opens calls_open[];
      v_locked uuid[];
      v_receipts uuid[];
      v_owners uuid[];
      v_fees smallint[];
      v_stored uuid[];
      v_stored_owners uuid[];
      v_signatures bytea[];
      v_wrong boolean;
      v_leveled boolean;
      v_free boolean;
      v_budgeted boolean;
      v_budget_ids uuid[];
      v_keyed boolean;
      v_changes int8[];
    BEGIN
      IF p_wallets IS NULL THEN
        IF p_call.held = 0 THEN
          SELECT ARRAY[w.credits - w.debits - w.held] INTO before FROM wallets w
          WHERE w.consumer_id = p_call.consumer_id AND p_call.cost = 0 FOR NO KEY UPDATE;
        ELSE
          UPDATE wallets w SET debits = w.debits + p_call.cost, held = w.held - p_call.held
          WHERE w.consumer_id = p_call.consumer_id AND p_call.cost <= p_call.held AND w.held >= p_call.held
          RETURNING ARRAY[w.credits - w.debits - w.held + p_call.cost - p_call.held] INTO before;
        END IF;
        IF FOUND THEN
          DELETE FROM calls_open o WHERE o.invocation_id = p_call.receipt_id AND o.consumer_id = p_call.consumer_id
            AND o.held = p_call.held AND o.fee_bps = p_call.fee_bps
          RETURNING o.* INTO v_open;
          IF FOUND THEN
            holds := ARRAY[p_call.held];
            v_leveled := v_open.level_id IS NOT NULL;
            v_free := v_open.free AND NOT p_call.uses_free_call;
            v_budgeted := v_open.budget_ids IS NOT NULL;
            v_keyed := v_open.key_hash IS NOT NULL;
            v_receipts := ARRAY[p_call.receipt_id];
            ${settle(ONE)}
            RETURN;
          END IF;
          -- Takes the change back: the open call is not as expected.
          UPDATE wallets w SET debits = w.debits - p_call.cost, held = w.held + p_call.held
          WHERE w.consumer_id = p_call.consumer_id;
        END IF;
        p_calls := ARRAY[p_call];
        p_wallets := ARRAY[p_call.consumer_id];
        p_debits := ARRAY[p_call.cost];
        p_releases := ARRAY[p_call.held];
        p_receipts := ARRAY[p_call.receipt_id];
        p_owners := p_wallets;
        p_held := p_releases;
        p_fees := ARRAY[p_call.fee_bps];
      END IF;

      ${lockWallets(
        `, p_prices IS NOT NULL AND ${covered("p_releases[l.place] - p_debits[l.place]")}`,
        ", prices_held"
      )}

      WITH gone AS (
        DELETE FROM calls_open o WHERE o.invocation_id = ANY (p_receipts) AND o.consumer_id = ANY (p_wallets)
        RETURNING o.invocation_id, o.consumer_id, o.held, o.fee_bps, o.free, o.level_id IS NOT NULL AS leveled,
          o.budget_ids IS NOT NULL AS budgeted, o.key_hash IS NOT NULL AS keyed,
          CASE WHEN o.free OR o.level_id IS NOT NULL OR o.budget_ids IS NOT NULL OR o.key_hash IS NOT NULL
            THEN ROW(o.*)::calls_open END AS special
      )
      SELECT array_agg(g.invocation_id), array_agg(g.consumer_id), array_agg(g.held), array_agg(g.fee_bps),
        bool_or(g.leveled), bool_or(g.free), bool_or(g.budgeted), bool_or(g.keyed), array_agg(g.special)
      INTO v_receipts, v_owners, holds, v_fees, v_leveled, v_free, v_budgeted, v_keyed, v_opens
      FROM (SELECT * FROM gone ORDER BY invocation_id) g;

      IF v_receipts IS DISTINCT FROM p_receipts OR v_owners IS DISTINCT FROM p_owners OR holds IS DISTINCT FROM p_held
        OR v_fees IS DISTINCT FROM p_fees
      THEN
        SELECT array_agg(coalesce(s.cost, 0) ORDER BY w.id), array_agg(coalesce(s.held, 0) ORDER BY w.id)
        INTO p_debits, p_releases
        FROM unnest(p_wallets) AS w (id) LEFT JOIN (
          SELECT c.consumer_id, sum(c.cost)::int8 AS cost, sum(o.held)::int8 AS held
          FROM unnest(p_calls) c JOIN unnest(v_receipts, holds) AS o (receipt_id, held) ON o.receipt_id = c.receipt_id
          GROUP BY 1
        ) s ON s.consumer_id = w.id;
        SELECT array_agg(r.receipt_id), array_agg(r.consumer_id), array_agg(r.signature)
        INTO v_stored, v_stored_owners, v_signatures
        FROM receipts r WHERE r.receipt_id = ANY (p_receipts) AND r.consumer_id = ANY (p_wallets);
        SELECT array_agg(o.held ORDER BY c.receipt_id),
          bool_or(o.consumer_id <> c.consumer_id OR o.held < c.cost OR o.fee_bps <> c.fee_bps),
          array_agg(o.held IS NOT NULL OR r.signature = c.signature ORDER BY c.receipt_id)
        INTO holds, v_wrong, same
        FROM unnest(p_calls) c
        LEFT JOIN unnest(v_receipts, v_owners, holds, v_fees) AS o (receipt_id, consumer_id, held, fee_bps)
          ON o.receipt_id = c.receipt_id
        LEFT JOIN unnest(v_stored, v_stored_owners, v_signatures) AS r (receipt_id, consumer_id, signature)
          ON r.receipt_id = c.receipt_id AND r.consumer_id = c.consumer_id;
        IF v_wrong THEN
          RAISE EXCEPTION 'a closing names another consumer''s call, costs more than was held, or has another fee than was '
            'recorded' USING ERRCODE = 'check_violation';
        END IF;
        IF array_position(same, NULL) > 0 THEN
          RAISE EXCEPTION 'a closing names a call that was never opened' USING ERRCODE = 'no_data_found';
        END IF;
        p_calls := ARRAY(SELECT c FROM unnest(p_calls) c WHERE c.receipt_id = ANY (v_receipts));
        prices_held := false;
      END IF;

      v_changes := ARRAY(SELECT CASE WHEN prices_held THEN coalesce(w.price, 0) ELSE 0 END - w.released
        FROM unnest(p_prices, p_releases) AS w (price, released));
      UPDATE wallets w SET debits = w.debits + p_debits[width_bucket(w.consumer_id, p_wallets)],
        held = w.held + v_changes[width_bucket(w.consumer_id, p_wallets)]
      WHERE w.consumer_id = ANY (p_wallets) AND (p_debits[width_bucket(w.consumer_id, p_wallets)] > 0
        OR v_changes[width_bucket(w.consumer_id, p_wallets)] <> 0);
      ${settle(MANY)}
    END $$`)
})
