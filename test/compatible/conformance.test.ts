/**
 * The conformance suite through the door of a provider: what passes directly passes through.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { compare } from "../support/conformance/Comparison.ts"
import { REVISIONS } from "../support/conformance/Scenarios.ts"
import { RawHttp } from "../support/servers/RawHttp.ts"

it.layer(RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback" }), {
  timeout: "60 seconds",
  excludeTestServices: true
})("The door of a provider conforms", (it) => {
  it.effect.each(REVISIONS)(
    "to %s as far as its server does",
    (revision) =>
      Effect.gen(function* () {
        const { port } = yield* RawHttp
        const { failures, scenarios } = yield* compare(`http://127.0.0.1:${port}`, revision)
        assert.isAbove(scenarios.filter(({ direct }) => direct.failed === 0).length, 30)
        const lost = scenarios.filter(({ kept }) => !kept).map(({ scenario }) => scenario)
        assert.deepStrictEqual(lost, [], failures.join("\n"))
      }),
    900_000
  )
})
