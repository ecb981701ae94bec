/**
 * The stores of a simulation: memory or PostgreSQL.
 */
import { Clock, Effect, Layer, Redacted, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { memoryProfile } from "../../../src/layers/MemoryStores.ts"
import { postgresStores } from "../../../src/layers/PostgresStores.ts"
import { temporaryPostgres } from "../../support/servers/TemporaryPostgres.ts"
import { connectedTo, createDatabase, dropDatabase, urlOf } from "../../support/servers/TestDatabases.ts"
import type { Stage } from "../Simulation.ts"

export const memory: Stage = {
  name: "memory",
  isAsynchronous: false,
  stores: Effect.flatMap(Effect.scope, (scope) =>
    Layer.buildWithMemoMap(memoryProfile, Layer.makeMemoMapUnsafe(), scope)
  )
}

const inMachineTime = Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())

/** On a database that is new for every run. Its connections live in the machine's time. */
export const postgres = (database: Effect.Effect<Redacted.Redacted, never, Scope.Scope>): Stage => ({
  name: "postgres",
  isAsynchronous: true,
  stores: Effect.gen(function* () {
    const url = yield* database
    const scope = yield* Effect.scope
    return yield* Layer.buildWithMemoMap(
      Layer.orDie(postgresStores({ url, connectionsMax: 10 })),
      Layer.makeMemoMapUnsafe(),
      scope
    )
  }).pipe(inMachineTime)
})

/** On a server of its own, which is thrown away with the scope. */
export const temporaryPostgresStage = Effect.map(
  temporaryPostgres({ settings: { max_connections: "50" } }),
  ({ url }) => {
    const admin = { adminUrl: Redacted.value(url) }
    return postgres(
      Effect.gen(function* () {
        const name = `simulation_${randomBytes(6).toString("hex")}`
        yield* Effect.acquireRelease(createDatabase(name, "template0").pipe(connectedTo(url)), () =>
          dropDatabase(name).pipe(connectedTo(url), inMachineTime, Effect.orDie)
        )
        return urlOf(admin, name)
      }).pipe(Effect.orDie)
    )
  }
)
