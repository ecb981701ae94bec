/**
 * A route is found the same way each time, also when its path was requested before.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { uncached } from "../../../adapters/http/contract/Endpoint.ts"
import { makeRouting } from "../../../adapters/http/pipeline/Dispatcher.ts"
import { documentRoute, UNMATCHED } from "../../../adapters/http/pipeline/Route.ts"
import type { WebRequest } from "../../../adapters/http/pipeline/WebRequest.ts"

const requestOf = (method: string, path: string): WebRequest => ({
  method,
  path,
  query: "",
  headers: {},
  remoteAddress: "127.0.0.1",
  body: () => Effect.succeed(new Uint8Array())
})

const empty = Effect.succeed({ status: 200, headers: {}, body: "" })

const routingOf = () =>
  makeRouting(
    [
      documentRoute("/tools/:tool", uncached, empty),
      { ...documentRoute("/tools/:tool", uncached, empty), method: "POST" },
      documentRoute("/tools", uncached, empty)
    ],
    undefined
  )

it("finds each of many paths with its own parameters, again and again", () => {
  const { find } = routingOf()
  for (let n = 0; n < 2_500; n++) {
    for (const time of ["first", "again"]) {
      const { params, route } = find(requestOf("GET", `/tools/t${n}`))
      assert.deepStrictEqual([route.path, params["tool"]], ["/tools/:tool", `t${n}`], time)
    }
  }
})

it("distinguishes methods of a path, and takes HEAD as GET", () => {
  const { find } = routingOf()
  for (const method of ["GET", "POST", "HEAD", "GET", "HEAD", "POST"]) {
    assert.strictEqual(find(requestOf(method, "/tools/a")).route.method, method === "HEAD" ? "GET" : method)
  }
  for (const _ of [1, 2]) assert.strictEqual(find(requestOf("DELETE", "/tools/a")).route.path, UNMATCHED.path)
})

it("does not find a path that a proxy would read differently, after the part that it has in common", () => {
  const { find } = routingOf()
  assert.strictEqual(find(requestOf("GET", "/tools")).route.path, "/tools")
  for (const path of ["/tools;x", "/tools#x", "*"]) {
    for (const _ of [1, 2]) assert.strictEqual(find(requestOf("GET", path)).route.path, UNMATCHED.path, path)
  }
})
