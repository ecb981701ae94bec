-- How the tables lie on a Citus cluster (13 or newer). Run on the coordinator, as the owner of the database and its tables,
-- after `migrate` and while no node runs. Running it again does nothing. docs/scaling-out.md says when, and how to go back.

CREATE EXTENSION IF NOT EXISTS citus;
SET citus.shard_count = 8;
SET citus.multi_shard_modify_mode = 'sequential';

-- Only nodes of earlier builds read these.
DROP VIEW IF EXISTS account_totals, usage_totals, transfers;
DROP FUNCTION IF EXISTS earnings_of (uuid, date, int8, int8), usage_of (uuid[]), budget_period_start (smallint, timestamptz);

DO $$
DECLARE
  place text;
BEGIN
  -- What a call reads or writes lies with its consumer.
  FOREACH place IN ARRAY ARRAY['wallets', 'budgets', 'call_idempotency', 'calls_open', 'free_tier_usage',
    'grant_reservations', 'grants', 'lost_calls', 'receipt_log_places', 'receipts', 'receipts_unlogged', 'tool_name_pins',
    'unfit_outputs', 'usage_hourly', 'wallet_splits'] LOOP
    IF NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = place::regclass AND partmethod = 'h') THEN
      PERFORM create_distributed_table(place, 'consumer_id', colocate_with => CASE place WHEN 'wallets' THEN 'none' ELSE 'wallets' END);
    END IF;
  END LOOP;
  -- A transaction uses one connection to each worker, so that it may change shards and then tables with foreign keys. Tables of
  -- later migrations enter the metadata, and their locks wait on workers as short as here.
  EXECUTE format('ALTER DATABASE %I SET citus.multi_shard_modify_mode = sequential', current_database());
  EXECUTE format('ALTER DATABASE %I SET citus.use_citus_managed_tables = on', current_database());
  EXECUTE format('ALTER DATABASE %I SET citus.propagate_set_commands = local', current_database());
  -- Batches of calls go to the worker of their shard.
  FOR place IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
    AND proname IN ('calls_open', 'calls_close', 'known_keys') LOOP
    PERFORM create_distributed_function(place::regprocedure);
  END LOOP;
  -- Everything else stays on the coordinator, in the metadata: a transaction over both commits in two phases.
  FOR place IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = current_schema() LOOP
    IF place::regclass NOT IN (SELECT logicalrelid FROM pg_dist_partition) THEN
      PERFORM citus_add_local_table_to_metadata(place, cascade_via_foreign_keys => true);
    END IF;
  END LOOP;
END $$;
