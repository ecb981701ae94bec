/**
 * Once for a whole test run: a PostgreSQL server (the one of TEST_DATABASE_URL, the cluster of CITUS_URL, else one of the
 * run's own) and in it
 * a migrated database, which every test that needs one copies.
 */
import { Config, Effect, Exit, Option, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import type { TestProject } from "vitest/node"
import { run as migrate } from "../../migrations/index.ts"
import { distribute, joinNodes } from "./servers/CitusCluster.ts"
import { temporaryPostgres } from "./servers/TemporaryPostgres.ts"
import {
  closeDatabase,
  connectedTo,
  createDatabase,
  dropDatabases,
  type TestDatabases,
  urlOf
} from "./servers/TestDatabases.ts"

const globalSetup = async (project: TestProject): Promise<() => Promise<void>> => {
  const scope = Scope.makeUnsafe()
  const end = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    project.provide("testDatabases", await Effect.runPromise(testDatabases.pipe(Scope.provide(scope))))
    return end
  } catch (cause) {
    await end()
    throw cause
  }
}

export default globalSetup

const testDatabases = Effect.gen(function* () {
  const given = yield* Config.option(
    Config.orElse(Config.Redacted("CITUS_URL"), () => Config.Redacted("TEST_DATABASE_URL"))
  )
  const adminUrl = Option.isSome(given) ? given.value : (yield* temporaryPostgres()).url
  const prefix = `atb_test_${randomBytes(5).toString("hex")}_`
  const databases: TestDatabases = { adminUrl: Redacted.value(adminUrl), prefix, template: `${prefix}template` }
  yield* Effect.acquireRelease(createDatabase(databases.template, "template0").pipe(connectedTo(adminUrl)), () =>
    dropDatabases(prefix).pipe(connectedTo(adminUrl), Effect.orDie)
  )
  yield* joinNodes(databases.template).pipe(connectedTo(adminUrl))
  yield* Effect.andThen(migrate, distribute).pipe(connectedTo(urlOf(databases, databases.template)))
  yield* closeDatabase(databases.template).pipe(connectedTo(adminUrl))
  return databases
})
