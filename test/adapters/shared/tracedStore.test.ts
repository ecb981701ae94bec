/**
 * Methods of a PostgreSQL store are steps of what is traced, and nothing is traced by them alone.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Option } from "effect"
import { tracedStore } from "../../../adapters/sql/shared/StoreSql.ts"

const spanName = Effect.map(
  Effect.option(Effect.currentSpan),
  Option.map(({ name }) => name)
)

class LoadStore extends Context.Service<
  LoadStore,
  {
    find(id: string): Effect.Effect<readonly [string, Option.Option<string>]>
    readonly count: Effect.Effect<Option.Option<string>>
  }
>()("test/domain/payments/LoadStore") {}

const store = tracedStore(LoadStore, { find: (id) => Effect.map(spanName, (name) => [id, name]), count: spanName })

it.effect("names the steps by the store and its methods", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* store.find("one"), ["one", Option.some("PostgresLoadStore.find")])
    assert.deepStrictEqual(yield* store.count, Option.some("PostgresLoadStore.count"))
  }).pipe(Effect.withSpan("a request"))
)

it.effect("makes no trace of its own", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* store.find("one"), ["one", Option.none()])
  })
)
