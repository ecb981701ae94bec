/**
 * The function that suspends a call between two legs, by the rule of `domain/metering/CallRules.ts`. As every writer it
 * locks the wallet first, which also makes the number of the consumer's suspended calls final.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const suspendCalls = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Codes: 0 suspended, 1 too many, 2 gone.
  yield* sql.unsafe(`CREATE OR REPLACE FUNCTION call_suspend(
    p_invocation_id uuid, p_consumer_id uuid, p_leg smallint, p_deadline_at timestamptz, p_max int
  ) RETURNS smallint LANGUAGE plpgsql AS $$
    DECLARE
      v_leg smallint;
      v_provider_id uuid;
    BEGIN
      PERFORM FROM wallets w WHERE w.consumer_id = p_consumer_id FOR NO KEY UPDATE;
      SELECT o.suspended_leg, o.provider_id INTO v_leg, v_provider_id FROM calls_open o
      WHERE o.invocation_id = p_invocation_id AND o.consumer_id = p_consumer_id;
      IF NOT FOUND OR v_leg <> p_leg THEN
        RETURN 2;
      END IF;
      IF v_leg IS NULL AND (
        SELECT count(*) >= p_max OR 2 * count(*) FILTER (WHERE o.provider_id = v_provider_id) >= p_max
        FROM calls_open o WHERE o.consumer_id = p_consumer_id AND o.suspended_leg IS NOT NULL
      ) THEN
        RETURN 1;
      END IF;
      UPDATE calls_open o SET suspended_leg = p_leg, deadline_at = p_deadline_at
      WHERE o.invocation_id = p_invocation_id AND o.consumer_id = p_consumer_id;
      RETURN 0;
    END $$`)
})
