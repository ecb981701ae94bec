/**
 * What an import costs the database: the number of statements grows with batches of tools, not with tools.
 */
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import type { ImportOptions } from "../../../domain/catalog/ImportApplication.ts"
import { ToolImport } from "../../../domain/catalog/ToolImport.ts"
import { TOOLS_PER_PROVIDER_MAX } from "../../../domain/catalog/ToolUpserts.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { postgresPorts, withServices } from "../../contracts/ports.ts"
import { aProvider } from "../../contracts/samples.ts"
import { tool, toolList } from "../../support/servers/FakeServers.ts"

const BATCHES = TOOLS_PER_PROVIDER_MAX / 100
const STATEMENTS_PER_BATCH_MAX = 15
const STATEMENTS_BESIDE_MAX = 20
const STATEMENTS_MAX = BATCHES * STATEMENTS_PER_BATCH_MAX + STATEMENTS_BESIDE_MAX

const OPTIONS: ImportOptions = { defaultPrice: Microcents.make(500n), overrides: [], listed: true }

/** The result of the effect, and the number of its statements. */
const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let statements = 0
    return effect.pipe(
      Effect.provideService(Statement.CurrentTransformer, (statement) =>
        Effect.sync(() => {
          statements++
          return statement
        })
      ),
      Effect.map((result) => [result, statements] as const)
    )
  })

const listOf = (description: string) =>
  toolList(
    Array.from({ length: TOOLS_PER_PROVIDER_MAX }, (_, n) =>
      tool(`tool_${n}`, { description: `${description} ${n}`, outputSchema: { type: "object" } })
    )
  )

const services = ToolImport.layer.pipe(Layer.provideMerge(withServices(postgresPorts, Duration.hours(24))))

it.layer(services, { timeout: "60 seconds" })("An import of as many tools as a provider may have", (it) => {
  it.effect(
    "takes few statements per batch of tools: to list drafts, to change all, and if nothing has changed",
    () =>
      Effect.gen(function* () {
        const imports = yield* ToolImport
        const { id } = yield* aProvider()
        const imported = (description: string, changes: Partial<ImportOptions> = {}) =>
          counted(imports.apply(id, listOf(description), { ...OPTIONS, ...changes }))

        const [drafted, ofDrafts] = yield* imported("first", { listed: false })
        assert.lengthOf(drafted.creates, TOOLS_PER_PROVIDER_MAX)
        assert.isBelow(ofDrafts, STATEMENTS_MAX)

        const [listed, ofListing] = yield* imported("first")
        assert.lengthOf(listed.changes, TOOLS_PER_PROVIDER_MAX)
        assert.isBelow(ofListing, STATEMENTS_MAX)

        const [changed, ofChanges] = yield* imported("second")
        assert.lengthOf(changed.changes, TOOLS_PER_PROVIDER_MAX)
        assert.isBelow(ofChanges, STATEMENTS_MAX)

        const [unchanged, ofNothing] = yield* imported("second")
        assert.lengthOf(unchanged.unchanged, TOOLS_PER_PROVIDER_MAX)
        assert.isBelow(ofNothing, STATEMENTS_BESIDE_MAX)
        assert.isAbove(ofNothing, 0)
      }),
    120_000
  )
})
