/**
 * `npm run bench -- catalog`: pages of a catalog of 1 000 providers and 50 000 tools, every query in every order.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import * as PostgresCatalogStore from "../../adapters/sql/catalog/PostgresCatalogStore.ts"
import { run as migrate } from "../../migrations/index.ts"
import { temporaryPostgres } from "../support/TemporaryPostgres.ts"
import { catalogQuestions, measureCatalog, seedCatalog } from "./catalogSeed.ts"
import { table } from "./support/Table.ts"

const ROUNDS = 200

const program = Effect.gen(function* () {
  yield* migrate
  yield* seedCatalog(yield* PgClient.PgClient, { providers: 1_000, tools: 50_000 })
  const timings = yield* measureCatalog(catalogQuestions, ROUNDS)
  table(`Catalogue pages out of 50 000 tools, ${ROUNDS} times each`, [
    ["", "total", "p50 ms", "p99 ms"],
    ...timings.map((one) => [one.name, String(one.total), one.p50Ms.toFixed(1), one.p99Ms.toFixed(1)])
  ])
})

export const catalog = (): Promise<void> =>
  Effect.gen(function* () {
    const server = yield* temporaryPostgres({ durable: true })
    const database = PgClient.layer({ url: server.url, maxConnections: 4 })
    yield* program.pipe(Effect.provide(PostgresCatalogStore.layer.pipe(Layer.provideMerge(database))))
  }).pipe(Effect.scoped, Effect.runPromise)
