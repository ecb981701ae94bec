/**
 * How `calls_open` and `calls_close` stay correct and fast (measured in docs/decisions/call-functions.md):
 * - Every writer locks wallets first and in the order of their ids, so nodes do not deadlock over existing wallets. A
 *   missing wallet is inserted while the existing ones are locked, out of that order: then two nodes can deadlock.
 *   PostgreSQL ends one of the statements, which the lane repeats.
 * - In READ COMMITTED each statement of a function sees what was committed before it began: what is read after the lock
 *   is current. The lock on a wallet also protects its consumer's free tiers, budgets, keys and open calls.
 * - A single call that needs no decision takes a short path, where the update of the wallet is also its lock.
 * - Tables are accessed by "= ANY (array)" or by a scalar subquery, which can only be index lookups. A join planned
 *   while a table was nearly empty would read all of it when it is full.
 */

/**
 * An aggregate over the locked wallets: whether each covers what its calls in p_prices may cost, and nothing else decides.
 * `released`: what becomes available before.
 */
export const covered = (released: string): string => `bool_and(p_prices[l.place] IS NULL
    OR NOT l.frozen AND NOT l.budgeted AND l.available + ${released} >= p_prices[l.place])`

/** Locks p_wallets, of which some may not exist yet, and reads them into variables. */
export const lockWallets = (aggregates: string, variables: string): string => `
  FOR v_try IN 1 .. 2 LOOP
    EXIT WHEN v_locked = p_wallets;
    IF v_try = 2 THEN
      INSERT INTO wallets (consumer_id) SELECT id FROM unnest(p_wallets) id ORDER BY id ON CONFLICT DO NOTHING;
    END IF;
    SELECT array_agg(l.consumer_id), array_agg(l.available)${aggregates} INTO v_locked, before${variables}
    FROM (SELECT w.consumer_id, w.credits - w.debits - w.held AS available, w.frozen, w.budgeted,
        width_bucket(w.consumer_id, p_wallets) AS place
      FROM wallets w WHERE w.consumer_id = ANY (p_wallets) ORDER BY w.consumer_id FOR NO KEY UPDATE) l;
  END LOOP;
  IF v_locked IS DISTINCT FROM p_wallets THEN
    RAISE EXCEPTION 'the wallets of a batch must be sorted and distinct' USING ERRCODE = 'check_violation';
  END IF;`
