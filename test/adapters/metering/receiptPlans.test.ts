/**
 * Receipts of an account with many: no page and no total reads all of them.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  type ReceiptFilter,
  type ReceiptOwner,
  receiptsCountedMax,
  ReceiptStore
} from "../../../domain/receipts/Receipts.ts"
import { ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { postgresStores } from "../../contracts/contractOverEveryStore.ts"
import { plansOf } from "../../support/servers/QueryPlans.ts"
import { LIVE } from "../../support/servers/PostgresTest.ts"

const ROWS = 80_000
const FAILED = 80
const FIRST = { limit: 50, offset: 0, after: undefined }
const ALL: ReceiptFilter = { toolId: undefined, status: undefined, from: undefined, to: undefined }

const consumer: ReceiptOwner = { role: "consumer", ownerId: ConsumerId.make("019348c2-a7b1-7c3d-8e9f-000000000001") }
const provider: ReceiptOwner = { role: "provider", ownerId: ProviderId.make("019348c2-a7b1-7c3d-8e9f-000000000002") }
const often = ToolId.make("019348c2-a7b1-7c3d-8e9f-000000000003")
const once = ToolId.make("019348c2-a7b1-7c3d-8e9f-000000000004")
const otherProvider = "019348c2-a7b1-7c3d-8e9f-000000000005"

/** A call a minute until now: a quarter is of the consumer, half of the provider. One tool is called once, by the consumer's first call. */
const fill = Effect.fnUntraced(function* (nowMs: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO providers (id, name, handle, email, endpoint_url, description, pricing_model,
      default_price_microcents, created_at)
    SELECT id, '', id::text, '', '', '', 'per_call', 0, now()
    FROM unnest(${[provider.ownerId, otherProvider]}::uuid[]) id`
  yield* sql`INSERT INTO tools (id, provider_id, tool_name, category, display_name, description, idempotent, billing_policy,
      effective_price_microcents, effective_max_cost_microcents, effective_free_tier_calls, effective_billing_policy,
      effective_leaving, price_version, price_versions, price_announced_at, price_since, search, created_at, updated_at)
    SELECT id, provider, id::text, '', '', '', false, 'success', 0, 0, 0, 'success', 'free', 1, 1, now(), now(), '', now(), now()
    FROM unnest(${[often, once]}::uuid[], ${[provider.ownerId, otherProvider]}::uuid[]) t (id, provider)`
  yield* sql`INSERT INTO receipts (receipt_id, consumer_id, provider_id, tool_id, called_at, created_at, cost, fee,
      duration_ms, price_version, request_bytes, response_bytes, tokens_input, tokens_output, status, origin, fee_bps,
      signature, tool_name)
    SELECT (lpad(to_hex(ms), 12, '0') || '70008' || lpad(n::text, 15, '0'))::uuid,
      CASE WHEN n % 4 = 0 THEN ${consumer.ownerId}::uuid ELSE gen_random_uuid() END,
      CASE WHEN n = 4 THEN ${otherProvider}::uuid WHEN n % 4 < 2 THEN ${provider.ownerId}::uuid ELSE gen_random_uuid() END,
      CASE WHEN n = 4 THEN ${once}::uuid ELSE ${often}::uuid END, to_timestamp(ms / 1000.0), to_timestamp(ms / 1000.0),
      0, 0, 1, 1, 0, 0, 0, 0, CASE WHEN n % ${ROWS / FAILED} = 0 THEN 2 ELSE 1 END, 1, 0, sha256('x'), 'tool'
    FROM (SELECT n, ${BigInt(nowMs)}::int8 - (${ROWS} - n) * 60000 AS ms FROM generate_series(1::int8, ${ROWS}) n) calls`
  yield* sql`VACUUM ANALYZE receipts`
})

it.layer(postgresStores, LIVE)("The receipts of an account with many", (it) => {
  it.effect("are found by indexes at any depth, and counted up to a limit", () =>
    Effect.gen(function* () {
      const store = yield* ReceiptStore
      const now = yield* DateTime.now
      const daysAgo = (days: number) => DateTime.formatIso(DateTime.subtract(now, { days }))
      yield* fill(now.epochMilliseconds)
      const filters: Readonly<Record<string, readonly [Partial<ReceiptFilter>, index: string, total?: number]>> = {
        all: [{}, "receipts_of_"],
        failed: [{ status: "error" }, "receipts_failed_of_"],
        "timed out": [{ status: "timeout" }, "receipts_failed_of_", 0],
        "failed of a tool": [{ status: "error", toolId: often }, "receipts_failed_of_"],
        "of a tool": [{ toolId: often }, "receipts_"],
        since: [{ from: daysAgo(2) }, "receipts_"],
        "of a day long ago": [{ from: daysAgo(20), to: daysAgo(19) }, "receipts_"]
      }
      for (const owner of [consumer, provider]) {
        for (const [name, [filter, index, total]] of Object.entries(filters)) {
          const asked = { ...ALL, ...filter }
          const plans = yield* plansOf(store.list(owner, asked, FIRST))
          for (const plan of plans.filter((one) => one.includes("receipts"))) {
            assert.include(plan, index, `${owner.role}: ${name}`)
            assert.notInclude(plan, "Seq Scan on receipts", `${owner.role}: ${name}`)
          }
          const found = yield* store.list(owner, asked, FIRST)
          assert.isAtMost(found.total, receiptsCountedMax(asked), name)
          if (total !== undefined) assert.equal(found.total, total, name)
        }
      }
      assert.equal((yield* store.list(consumer, ALL, FIRST)).total, 10_000)
      assert.isAbove((yield* store.list(consumer, { ...ALL, from: daysAgo(20), to: daysAgo(19) }, FIRST)).total, 300)
      assert.equal((yield* store.list(consumer, { ...ALL, toolId: often }, FIRST)).total, 1_000)
      assert.equal((yield* store.list(consumer, { ...ALL, status: "error" }, FIRST)).total, FAILED)

      // The only receipt of a small provider is not looked for among all of a large consumer.
      const [, ...plans] = yield* plansOf(store.list(consumer, { ...ALL, toolId: once }, FIRST))
      for (const plan of plans) assert.include(plan, "receipts_of_provider")
      assert.equal((yield* store.list(consumer, { ...ALL, toolId: once }, FIRST)).items.length, 1)

      // A deep page is found in an index alone.
      const page = { ...FIRST, offset: 15_000 }
      const [, plan] = yield* plansOf(store.list(consumer, ALL, page))
      assert.include(plan, "Index Only Scan Backward using receipts_of_consumer")
      const { items, next } = yield* store.list(consumer, ALL, page)
      const after = yield* store.list(consumer, ALL, { ...FIRST, after: next })
      assert.deepEqual((yield* store.list(consumer, ALL, { ...page, offset: 15_050 })).items, after.items)
      assert.isTrue(items.at(-1)!.receipt_id > after.items[0]!.receipt_id)
    })
  )
})
