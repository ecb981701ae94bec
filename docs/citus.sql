-- How the tables lie on a Citus cluster: run once on the coordinator, after the migrations, before there is traffic.
-- test/adapters/distribution.test.ts holds this file against the migrated schema: a new table without a place here fails.
-- It has not run on Citus: docs/growing.md says what has to change before it may.

CREATE EXTENSION IF NOT EXISTS citus;

-- Keys that would lead from a table of the coordinator to a distributed one; the application holds them already.
ALTER TABLE api_keys DROP CONSTRAINT api_keys_consumer_id_fkey;
ALTER TABLE loads DROP CONSTRAINT loads_consumer_id_fkey;
ALTER TABLE withdrawals DROP CONSTRAINT withdrawals_consumer_id_fkey;

-- Small, read everywhere, written seldom: a copy on every worker.
SELECT create_reference_table('providers');
SELECT create_reference_table('provider_handles');
SELECT create_reference_table('tools');
SELECT create_reference_table('tool_prices');

-- A consumer's rows lie together: a call opens and closes on one worker.
SELECT create_distributed_table('consumers', 'id');
SELECT create_distributed_table('wallets', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('budgets', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('grants', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('grant_reservations', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('free_tier_usage', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('calls_open', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('call_idempotency', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('receipts', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('receipts_unlogged', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('receipt_log_places', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('transfers', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('usage_hourly', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('invoice_usage', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('tool_name_pins', 'consumer_id', colocate_with => 'consumers');
SELECT create_distributed_table('unfit_outputs', 'consumer_id', colocate_with => 'consumers');

-- Of the coordinator: they grow with people, days and payments, not with calls.
-- local: account_balances
-- local: api_keys
-- local: book
-- local: catalog_tallies
-- local: chargebacks
-- local: claims
-- local: disputes
-- local: effect_sql_migrations
-- local: erasures
-- local: health_history
-- local: idempotency_keys
-- local: invoice_counters
-- local: invoice_months
-- local: invoice_movements
-- local: invoice_pending
-- local: invoices
-- local: load_reversals
-- local: loads
-- local: meter_keys
-- local: payees
-- local: payment_events
-- local: payouts
-- local: proof_attempts
-- local: mailed_addresses
-- local: provider_proofs
-- local: provider_scores
-- local: provider_standings
-- local: proxied_consumers
-- local: receipt_log_tiles
-- local: receipt_logs
-- local: sla_daily
-- local: sla_hourly
-- local: submissions
-- local: tool_figures
-- local: trust_daily
-- local: waitlist
-- local: withdrawal_parts
-- local: withdrawals
