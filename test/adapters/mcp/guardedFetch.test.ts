import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { publicAndLoopback, publicOnly } from "../../../adapters/mcp/egress/AddressGuard.ts"
import { type GuardedRequest, makeGuardedFetch } from "../../../adapters/mcp/egress/GuardedEgress.ts"
import { loopback } from "../../support/servers/Loopback.ts"

const fetched = (url: string, over: Partial<GuardedRequest> = {}, policy = publicAndLoopback) =>
  Effect.flatMap(makeGuardedFetch({ policy, connectTimeoutMs: 10_000 }), (fetch) =>
    fetch({ url, timeoutMs: 10_000, bodyBytesMax: 1_000, ...over })
  )

it.live("reads a file, and follows a limited number of redirects on the same host", () =>
  Effect.gen(function* () {
    const url = yield* loopback((request, response) =>
      request.url === "/file" ? response.end("text") : response.writeHead(302, { location: "/file" }).end()
    )
    const direct = yield* fetched(`${url}/file`)
    assert.deepStrictEqual([direct.status, direct.body.toString()], [200, "text"])
    const redirected = yield* fetched(`${url}/old`, { redirectsMax: 1 })
    assert.deepStrictEqual([redirected.url, redirected.body.toString()], [`${url}/file`, "text"])
    const rejected = yield* Effect.flip(fetched(`${url}/old`))
    assert.propertyVal(rejected, "reason", "redirected_away")
  })
)

it.live("follows no redirect to another host", () =>
  Effect.gen(function* () {
    let reached = false
    const inner = yield* loopback((_request, response) => {
      reached = true
      response.end()
    })
    const url = yield* loopback((_request, response) => response.writeHead(302, { location: inner }).end())
    const rejected = yield* Effect.flip(fetched(url, { redirectsMax: 5 }))
    assert.propertyVal(rejected, "reason", "redirected_away")
    assert.isFalse(reached)
  })
)

it.live("obeys its address policy, its size limit and its timeout", () =>
  Effect.gen(function* () {
    const url = yield* loopback((request, response) => {
      if (request.url === "/large") response.end("x".repeat(2_000))
    })
    assert.strictEqual((yield* Effect.flip(fetched(url, {}, publicOnly)))._tag, "AddressRejected")
    assert.propertyVal(yield* Effect.flip(fetched(`${url}/large`)), "reason", "too_large")
    const silent = yield* Effect.flip(fetched(`${url}/silent`, { timeoutMs: 500 }))
    assert.propertyVal(silent, "reason", "timeout")
    assert.propertyVal(yield* Effect.flip(fetched("ftp://127.0.0.1/")), "reason", "not_a_url")
    assert.include(silent.message, "127.0.0.1 could not be read")
  })
)
