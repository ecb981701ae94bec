/**
 * `end-sessions` as it is typed, beside a running service.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { OPERATOR_KEY } from "../support/market/HttpMarket.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, json, ready } from "../support/servers/ServiceProcess.ts"

const SETTINGS = {
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: "0".repeat(64),
  PAYMENTS: "dry_run",
  LOG_LEVEL: "Error",
  OPERATOR_KEY
}

it.layer(PostgresTest.layer, { timeout: "300 seconds", excludeTestServices: true })("end-sessions", (it) => {
  it.effect(
    "ends a session at a running service, and is in the audit trail",
    () =>
      Effect.gen(function* () {
        const { url: database } = yield* PostgresTest
        const settings = { ...SETTINGS, DATABASE_URL: Redacted.value(database) }
        const { url } = yield* ready(settings)
        const operator = `${url}/api/v1/operator`
        const signedIn = yield* Effect.promise(() =>
          fetch(`${operator}/session`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ key: OPERATOR_KEY, name: "Ada" })
          })
        )
        assert.strictEqual(signedIn.status, 201)
        const cookie = signedIn.headers.get("set-cookie")!.split(";")[0]!
        const status = Effect.map(json(`${operator}/solvency`, { headers: { cookie } }), (answer) => answer.status)
        assert.strictEqual(yield* status, 200)

        const end = (...args: ReadonlyArray<string>) => finished(["end-sessions", ...args], { settings })
        for (const [args, says] of [
          [[], "--by"],
          [["--by", "Ada"], "--reason"],
          [["--by", " ", "--reason", "x"], "--by must have 1 to 100 characters"],
          [["--by", "Ada", "--reason", "x".repeat(501)], "--reason must have 1 to 500 characters; it has 501"],
          [["--reason", "stolen"], "--by"]
        ] as const) {
          const wrong = yield* end(...args)
          assert.deepStrictEqual([wrong.code, wrong.output], [1, ""])
          assert.include(wrong.problem, says, args.join(" "))
        }
        assert.strictEqual(yield* status, 200)
        const done = yield* end("--by", "Grace", "--reason", "A laptop was stolen.")
        assert.deepStrictEqual([done.code, done.problem], [0, ""])
        assert.include(done.output, "1 session was ended.")
        assert.strictEqual(yield* status, 401)

        const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
        const { body } = yield* json(`${operator}/audit-trail?action=session.end_all`, { headers })
        const [entry] = (body as { readonly entries: ReadonlyArray<Readonly<Record<string, unknown>>> }).entries
        assert.deepInclude(entry, { actor: "Grace", address: "command line", reason: "A laptop was stolen." })
      }),
    240_000
  )
})
