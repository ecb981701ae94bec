-- How the tables lie on a Citus cluster (12 or newer) with schema-based sharding. Run once on the coordinator, as the owner
-- of the tables, after `migrate` and before there is traffic; then set search_path = lane_0, public for the service's role.
-- docs/capacity.md says what the service still lacks. test/adapters/distribution.test.ts compares this file with the schema
-- and runs it on PostgreSQL without Citus.

CREATE EXTENSION IF NOT EXISTS citus;

-- The lane part: everything that one call reads or writes, in one schema on one worker.
CREATE SCHEMA lane_0;
ALTER TABLE account_balances SET SCHEMA lane_0;
ALTER TABLE budgets SET SCHEMA lane_0;
ALTER TABLE call_idempotency SET SCHEMA lane_0;
ALTER TABLE calls_open SET SCHEMA lane_0;
ALTER TABLE free_tier_usage SET SCHEMA lane_0;
ALTER TABLE grant_reservations SET SCHEMA lane_0;
ALTER TABLE grants SET SCHEMA lane_0;
ALTER TABLE lost_calls SET SCHEMA lane_0;
ALTER TABLE posted_transfers SET SCHEMA lane_0;
ALTER TABLE receipts SET SCHEMA lane_0;
ALTER TABLE receipts_unlogged SET SCHEMA lane_0;
ALTER TABLE tool_name_pins SET SCHEMA lane_0;
ALTER TABLE unfit_outputs SET SCHEMA lane_0;
ALTER TABLE usage_hourly SET SCHEMA lane_0;
ALTER TABLE wallet_splits SET SCHEMA lane_0;
ALTER TABLE wallets SET SCHEMA lane_0;
ALTER TYPE call_closing SET SCHEMA lane_0;
ALTER TYPE call_opening SET SCHEMA lane_0;
ALTER VIEW transfers SET SCHEMA lane_0;
ALTER VIEW account_totals SET SCHEMA lane_0;
ALTER VIEW usage_totals SET SCHEMA lane_0;

-- Its functions go with it. tally_catalog belongs to the catalog.
DO $$
DECLARE
  routine regprocedure;
BEGIN
  FOR routine IN
    SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.proname <> 'tally_catalog'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE format('ALTER ROUTINE %s SET SCHEMA lane_0', routine);
  END LOOP;
END $$;

SELECT citus_schema_distribute('lane_0');

-- The main part stays on the coordinator: it grows with people, days and payments, not with calls.
-- main: agent_tool_billing_migrations
-- main: api_keys
-- main: audit_trail
-- main: book
-- main: catalog_tallies
-- main: chargebacks
-- main: claims
-- main: consumers
-- main: disputes
-- main: erasures
-- main: health_history
-- main: idempotency_keys
-- main: invoice_counters
-- main: invoice_months
-- main: invoice_movements
-- main: invoice_pending
-- main: invoice_usage
-- main: invoices
-- main: load_reversals
-- main: loads
-- main: mailed_addresses
-- main: mcp_sessions
-- main: mcp_stream_events
-- main: mcp_tasks
-- main: meter_keys
-- main: operator_sessions
-- main: payees
-- main: payment_events
-- main: payouts
-- main: proof_attempts
-- main: provider_fees
-- main: provider_handles
-- main: provider_proofs
-- main: provider_scores
-- main: provider_standings
-- main: providers
-- main: proxied_consumers
-- main: receipt_log_places
-- main: receipt_log_tiles
-- main: receipt_logs
-- main: server_tools
-- main: sla_daily
-- main: sla_hourly
-- main: submissions
-- main: tool_aliases
-- main: tool_figures
-- main: tool_imports
-- main: tool_prices
-- main: tool_syncs
-- main: tool_versions
-- main: toolboxes
-- main: tools
-- main: trust_daily
-- main: waitlist
-- main: withdrawal_parts
-- main: withdrawals
