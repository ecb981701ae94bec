/**
 * A process that opens calls of one consumer as fast as it can. Argument: a JSON `Race`. Prints `ready`, starts at a line on
 * its standard input, and prints its counts as JSON at the end.
 */
import { PgClient } from "@effect/sql-pg"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import * as PostgresCallStore from "../../adapters/sql/metering/PostgresCallStore.ts"
import { CallStore, type Opened } from "../../domain/metering/CallStore.ts"
import { ConsumerId, ProviderId, receiptIdOf, ToolId } from "../../domain/shared/Ids.ts"
import { Microcents } from "../../domain/shared/Microcents.ts"

export interface Race {
  readonly url: string
  readonly consumerId: string
  /** Used in turn. */
  readonly toolIds: ReadonlyArray<string>
  readonly providerId: string
  readonly calls: number
  readonly atOnce: number
  readonly price: number
  readonly freeTierCalls: number
}

export interface Finish {
  readonly opened: number
  readonly free: number
  readonly refused: number
}

const race: Race = JSON.parse(process.argv[2]!)

const open = Effect.fnUntraced(function* (n: number, consumerId: string = race.consumerId) {
  const calls = yield* CallStore
  const toolId = race.toolIds[n % race.toolIds.length]!
  const openedAt = DateTime.makeUnsafe("2026-11-20T10:11:12.345Z")
  return yield* calls.open({
    invocationId: receiptIdOf(randomUUID(), 1_000),
    consumerId: ConsumerId.make(consumerId),
    providerId: ProviderId.make(race.providerId),
    toolId: ToolId.make(toolId),
    toolName: "search_web",
    priceVersion: 1,
    holdAmount: Microcents.make(BigInt(race.price)),
    feeBasisPoints: 1_000,
    freeTierCalls: consumerId === race.consumerId ? race.freeTierCalls : 0,
    origin: "proxy",
    openedAt,
    deadlineAt: DateTime.add(openedAt, { seconds: 30 }),
    idempotency: undefined
  })
})

const main = Effect.gen(function* () {
  // Warm-up: calls of consumers without a wallet are rejected and change nothing.
  yield* Effect.forEach(Array.from({ length: 200 }), () => open(0, randomUUID()), { concurrency: 20, discard: true })
  process.stdout.write("ready\n")
  yield* Effect.promise(() => once(process.stdin, "data"))
  const answers: ReadonlyArray<Opened> = yield* Effect.forEach(
    Array.from({ length: race.calls }, (_, n) => n),
    (n) => open(n),
    { concurrency: race.atOnce }
  )
  const finish: Finish = {
    opened: answers.filter((answer) => answer._tag === "Opened").length,
    free: answers.filter((answer) => answer._tag === "Opened" && answer.free).length,
    refused: answers.filter((answer) => answer._tag === "InsufficientFunds").length
  }
  process.stdout.write(`${JSON.stringify(finish)}\n`)
})

const database = PgClient.layer({ url: Redacted.make(race.url) })

await Effect.runPromise(main.pipe(Effect.provide(PostgresCallStore.layer.pipe(Layer.provide(database)))))
process.exit(0)
