/**
 * What calls add up to for a consumer, and what its calls need to know of earlier ones.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const usage = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`CREATE TABLE usage_hourly (
    consumer_id uuid NOT NULL,
    hour timestamptz NOT NULL,
    tool_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    calls int8 NOT NULL,
    successes int8 NOT NULL,
    timeouts int8 NOT NULL,
    spend int8 NOT NULL,
    fee int8 NOT NULL,
    latency_ms int8 NOT NULL,
    request_bytes int8 NOT NULL,
    response_bytes int8 NOT NULL,
    tokens_input int8 NOT NULL,
    tokens_output int8 NOT NULL,
    PRIMARY KEY (consumer_id, hour, tool_id, provider_id)
  ) WITH (fillfactor = 70)`
  yield* sql`CREATE INDEX usage_hourly_of_provider ON usage_hourly (provider_id, hour)`
  yield* sql`CREATE INDEX usage_hourly_recent ON usage_hourly USING brin (hour)`

  yield* sql`CREATE TABLE free_tier_usage (
    consumer_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    month date NOT NULL,
    used int4 NOT NULL CHECK (used >= 0),
    PRIMARY KEY (consumer_id, tool_id, month)
  ) WITH (fillfactor = 70)`

  // Which tool a consumer means by a bare tool name.
  yield* sql`CREATE TABLE tool_name_pins (
    consumer_id uuid NOT NULL,
    tool_name text COLLATE "C" NOT NULL,
    tool_id uuid NOT NULL,
    pinned_at timestamptz(3) NOT NULL,
    PRIMARY KEY (consumer_id, tool_name)
  )`

  // Paid calls whose output does not match the tool's output schema, for as long as they can be disputed.
  yield* sql`CREATE TABLE unfit_outputs (
    consumer_id uuid NOT NULL,
    receipt_id uuid NOT NULL,
    noted_at timestamptz(3) NOT NULL,
    PRIMARY KEY (consumer_id, receipt_id)
  )`
  yield* sql`CREATE INDEX unfit_outputs_age ON unfit_outputs (noted_at)`
})
