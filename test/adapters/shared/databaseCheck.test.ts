/**
 * Faults of a database are reported before its schema is touched, with their real cause.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { checkDatabase, problemOf } from "../../../adapters/sql/shared/DatabaseCheck.ts"
import { migrateSchema } from "../../../src/layers/Database.ts"
import { sentenceOf } from "../../../src/StartFailure.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"
import { connectedTo, dropDatabase, urlOf } from "../../support/servers/TestDatabases.ts"

const fine = {
  name: "atb",
  encoding: "UTF8",
  role: "atb",
  schema: "public",
  may_create: true,
  is_standby: false,
  closed: []
}

describe("a database", () => {
  it.each([
    [{ encoding: "SQL_ASCII" }, "encoding SQL_ASCII"],
    [{ is_standby: true }, "Name the primary"],
    [{ schema: null }, "USAGE and CREATE"],
    [{ may_create: false }, "GRANT CREATE ON SCHEMA public TO atb"],
    [{ closed: ["wallets"] }, "may not read and write the tables wallets."]
  ] as const)("with %j is rejected", (fault, words) => {
    assert.include(problemOf({ ...fine, ...fault }), words)
  })

  it("with supported settings is accepted", () => {
    assert.isUndefined(problemOf(fine))
  })
})

it.layer(PostgresTest.layerDatabase, LIVE)("a real database", (it) => {
  it.effect("is accepted; one in another encoding is not, and one whose role may not create tables", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      yield* checkDatabase.pipe(connectedTo(url))
      const databases = inject("testDatabases")
      const name = `${databases.prefix}latin${randomBytes(4).toString("hex")}`
      const role = `${name}_role`
      yield* Effect.acquireRelease(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`CREATE DATABASE ${sql(name)} ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C'
            TEMPLATE template0`
          yield* sql`CREATE ROLE ${sql(role)} LOGIN PASSWORD 'guest'`
        }).pipe(connectedTo(url)),
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient.SqlClient
            yield* dropDatabase(name)
            yield* sql`DROP ROLE ${sql(role)}`
          }).pipe(connectedTo(url), Effect.orDie)
      )
      const encoding = yield* Effect.flip(checkDatabase.pipe(connectedTo(urlOf(databases, name))))
      assert.include(sentenceOf(encoding), "has the encoding LATIN1, and UTF8 is required")
      const guest = new URL(Redacted.value(url))
      guest.username = role
      guest.password = "guest"
      const rights = yield* Effect.flip(checkDatabase.pipe(connectedTo(Redacted.make(guest.href))))
      assert.include(sentenceOf(rights), `the role "${role}" may`)
      const ownerRights = yield* Effect.flip(
        migrateSchema({ ownerUrl: Redacted.make(guest.href) }).pipe(connectedTo(url))
      )
      assert.match(sentenceOf(ownerRights), /^The database of MIGRATION_DATABASE_URL cannot be used: the role /u)
      guest.port = "1"
      const ownerAway = yield* Effect.flip(
        migrateSchema({ ownerUrl: Redacted.make(guest.href) }).pipe(connectedTo(url))
      )
      assert.match(
        sentenceOf(ownerAway),
        /^The database of MIGRATION_DATABASE_URL cannot be used: connect ECONNREFUSED/u
      )
    })
  )
})
