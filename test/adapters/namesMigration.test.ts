/**
 * Migrations 0028 and 0029 on a database that is in use: every provider gets a handle, every name that was called a pin.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as PostgresVerificationStore from "../../adapters/sql/trust/PostgresVerificationStore.ts"
import { isHandle, skeletonOf } from "../../domain/accounts/Handle.ts"
import { AccountStore } from "../../domain/accounts/AccountStore.ts"
import { CatalogStore } from "../../domain/catalog/CatalogStore.ts"
import type { ProviderId } from "../../domain/shared/Ids.ts"
import providerHandles from "../../migrations/0028_provider_handles.ts"
import toolNamePins from "../../migrations/0029_tool_name_pins.ts"
import { verify } from "../contracts/handles.ts"
import { consumerWith } from "../contracts/ledgerSamples.ts"
import { postgresMetering } from "../contracts/meteringPorts.ts"
import { aListedTool, called } from "../contracts/meteringSamples.ts"
import { aConsumer, aProvider, instant } from "../contracts/samples.ts"

const ports = PostgresVerificationStore.layer.pipe(Layer.provideMerge(postgresMetering))
const AT = "2026-11-20T12:00:00.000Z"

const withoutNames = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`DROP TABLE provider_handles, tool_name_pins`
  yield* sql`ALTER TABLE providers DROP COLUMN handle`
})

const digitsOf = (id: string): string => id.replaceAll("-", "").slice(-12)

it.layer(ports, { timeout: "60 seconds", excludeTestServices: true })("Migrations 0028 and 0029", (it) => {
  it.effect("give every provider a handle of its own, and every name that was called a pin", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const catalog = yield* CatalogStore
      const named = (name: string, day = 1) =>
        aProvider({ name, createdAt: instant(`2026-10-${String(day).padStart(2, "0")}T00:00:00.000Z`) })
      const plain = yield* named("Ada's Tools, Inc.")
      const [younger, older] = [yield* named("Twin", 2), yield* named("Twin", 1)]
      const [imitator, original] = [yield* named("0rigina1", 1), yield* named("Original", 2)]
      yield* verify(original.id)
      const [short, reserved, symbols] = [yield* named("AI"), yield* named("Supp0rt"), yield* named("天気")]
      const disguised = yield* named(`Provider ${digitsOf(short.id)}`)
      const erased = yield* named("Erased account")
      yield* (yield* AccountStore).recordErasure({
        ownerId: erased.id,
        role: "provider",
        by: "a test",
        at: instant(AT),
        leftMicrocents: 0n
      })
      const prefix = yield* named("Maps")
      yield* aListedTool(plain, "maps/route")

      const consumer = yield* consumerWith(1_000_000)
      yield* aConsumer({ id: consumer })
      const [gone, listed, dead] = [
        yield* aListedTool(older, "echo"),
        yield* aListedTool(younger, "echo"),
        yield* aListedTool(older, "dead")
      ]
      const failed = yield* aListedTool(younger, "failed")
      yield* called(consumer, gone, "2026-11-01T00:00:00.000Z")
      yield* called(consumer, listed, "2026-11-02T00:00:00.000Z")
      yield* called(consumer, dead, "2026-11-03T00:00:00.000Z")
      yield* called(consumer, failed, "2026-11-04T00:00:00.000Z", { status: "error", cost: 0 })
      for (const tool of [gone, dead]) yield* catalog.withdraw(older.id, tool.toolId, instant(AT))

      yield* withoutNames
      yield* providerHandles
      yield* toolNamePins

      const rows = yield* sql<{ readonly id: ProviderId; readonly handle: string }>`SELECT id, handle FROM providers`
      const handles = new Map(rows.map(({ handle, id }) => [id, handle]))
      for (const [provider, handle] of [
        [plain, "ada-s-tools-inc"],
        [older, "twin"],
        [younger, `twin-${digitsOf(younger.id)}`],
        [original, "original"],
        [imitator, `provider-${digitsOf(imitator.id)}`],
        [short, `provider-${digitsOf(short.id)}`],
        [reserved, `provider-${digitsOf(reserved.id)}`],
        [symbols, `provider-${digitsOf(symbols.id)}`],
        [disguised, `provider-${digitsOf(disguised.id)}`],
        [erased, `erased-${digitsOf(erased.id)}`],
        [prefix, `maps-${digitsOf(prefix.id)}`]
      ] as const) {
        assert.strictEqual(handles.get(provider.id), handle, provider.name)
        assert.isTrue(isHandle(handle), handle)
      }
      const given = yield* sql<{ readonly handle: string; readonly skeleton: string }>`
        SELECT handle, skeleton FROM provider_handles`
      assert.lengthOf(given, rows.length - 1)
      for (const { handle, skeleton } of given) assert.strictEqual(skeleton, skeletonOf(handle))

      const pins = yield* sql<{ readonly tool_name: string; readonly tool_id: string }>`
        SELECT tool_name, tool_id FROM tool_name_pins WHERE consumer_id = ${consumer} ORDER BY tool_name`
      assert.deepStrictEqual(
        pins.map((pin) => [pin.tool_name, pin.tool_id]),
        [
          ["dead", dead.toolId],
          ["echo", listed.toolId]
        ]
      )
    })
  )
})
