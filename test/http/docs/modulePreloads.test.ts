/**
 * Pages preload all modules that they import, directly and indirectly.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const textOf = (path: string) =>
  Effect.map(ask([`GET ${path} HTTP/1.1`, "accept: text/html"]), ({ body, status }) => {
    assert.strictEqual(status, 200, path)
    return body
  })

const allOf = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  [...text.matchAll(pattern)].map(([, one]) => one!)

it.layer(RawHttp.layer(), LIVE)("A page", (it) => {
  it.effect.each([
    "/developer",
    "/developer/calls",
    "/provider",
    "/provider/tools",
    "/verify",
    "/developers/register",
    "/catalog"
  ])("%s preloads every module", (path) =>
    Effect.gen(function* () {
      const page = yield* textOf(path)
      const started = allOf(page, /<script type="module" src="([^"]+)"/gu)
      const preloaded = allOf(page, /<link rel="modulepreload" href="([^"]+)"/gu)
      assert.isAbove(started.length, 0)
      const needed = new Set(started)
      for (const module of needed) {
        for (const name of allOf(yield* textOf(module), /\bfrom\s*"(\.[^"]+)"/gu)) {
          needed.add(new URL(name, `http://site${module}`).pathname)
        }
      }
      assert.sameMembers([...new Set([...started, ...preloaded])], [...needed])
      assert.strictEqual(new Set(preloaded).size, preloaded.length)
    })
  )
})
