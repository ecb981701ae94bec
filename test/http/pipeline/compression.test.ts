/**
 * Compression of long documents: gzip for clients that accept it, the same bytes for all others.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { gunzipSync } from "node:zlib"
import { request } from "undici"
import { makeCompression, takesGzip } from "../../../adapters/http/server/NodeServer.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const fetched = Effect.fnUntraced(function* (path: string, acceptEncoding?: string, method: "GET" | "HEAD" = "GET") {
  const { port } = yield* RawHttp
  return yield* Effect.promise(async () => {
    const { body, headers, statusCode } = await request(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        accept: "text/html,application/json",
        ...(acceptEncoding === undefined ? {} : { "accept-encoding": acceptEncoding })
      }
    })
    return { status: statusCode, headers, bytes: Buffer.from(await body.arrayBuffer()) }
  })
})

const KB = 1_024

it.layer(RawHttp.layer(), LIVE)("Long documents", (it) => {
  it.effect("are compressed for clients that accept gzip, whole, and much shorter", () =>
    Effect.gen(function* () {
      for (const [path, shareMax] of [
        ["/docs/errors", 0.2],
        ["/docs/mcp", 0.4],
        ["/spec", 0.4],
        ["/api/openapi.json", 0.2]
      ] as const) {
        const plain = yield* fetched(path)
        const short = yield* fetched(path, "gzip, deflate, br, zstd")
        assert.deepStrictEqual([plain.status, short.status], [200, 200])
        assert.deepStrictEqual(
          [plain.headers["content-encoding"], short.headers["content-encoding"]],
          [undefined, "gzip"]
        )
        assert.isTrue(gunzipSync(short.bytes).equals(plain.bytes), path)
        assert.isBelow(short.bytes.length, plain.bytes.length * shareMax, path)
        for (const { bytes, headers } of [plain, short]) {
          assert.match(String(headers["vary"]), /Accept-Encoding/u)
          assert.strictEqual(Number(headers["content-length"]), bytes.length)
        }
        const head = yield* fetched(path, "gzip", "HEAD")
        assert.strictEqual(head.headers["content-length"], short.headers["content-length"])
        assert.strictEqual(head.bytes.length, 0)
      }
      assert.isBelow((yield* fetched("/", "gzip")).bytes.length, 10 * KB)
    })
  )

  it.effect("are not compressed where they are short, errors, or data", () =>
    Effect.gen(function* () {
      for (const path of ["/api/market", "/api/market/catalog", "/livez", "/nothing/here"]) {
        const { headers } = yield* fetched(path, "gzip")
        assert.isUndefined(headers["content-encoding"], path)
      }
      assert.isUndefined((yield* fetched("/docs", "gzip;q=0, br")).headers["content-encoding"])
    })
  )
})

describe("Accept-Encoding", () => {
  it("is parsed according to RFC 9110", () => {
    for (const yes of ["gzip", "GZIP", "br, gzip;q=0.1", "*", "deflate, *;q=0.5", "x-gzip", "gzip ; q=1.0"]) {
      assert.isTrue(takesGzip(yes), yes)
    }
    for (const no of [
      undefined,
      "",
      "br",
      "gzip;q=0",
      "gzip;q=0.000, *",
      "*;q=0",
      "identity",
      "gzip;q=often",
      "gzipped"
    ]) {
      assert.isFalse(takesGzip(no), no)
    }
  })
})

describe("The cache of compressed documents", () => {
  it("has a maximum size", () => {
    const compression = makeCompression()
    const page = (body: string) => ({ status: 200, headers: { "content-type": "text/html" }, body })
    const long = "x".repeat(10_000)
    const first = compression.of(page(long), "gzip").body
    assert.strictEqual(compression.of(page(`${long.slice(0, 5_000)}${long.slice(5_000)}`), "gzip").body, first)
    for (let n = 0; n < 100; n++) compression.of(page(`${n} ${long}`), "gzip")
    const again = compression.of(page(long), "gzip").body
    assert.notStrictEqual(again, first)
    assert.strictEqual(gunzipSync(again as Uint8Array).toString(), long)
  })
})

describe("A long response", () => {
  const coded = (length: number, headers: Readonly<Record<string, string>>) =>
    makeCompression().of({ status: 200, headers, body: "x".repeat(length) }, "gzip").headers["content-encoding"]

  it("is not compressed on the event loop where it is private or longer than any of our documents", () => {
    const json = { "content-type": "application/json; charset=utf-8" }
    assert.strictEqual(coded(100_000, { ...json, "cache-control": "public, max-age=60" }), "gzip")
    for (const own of ["no-store", "private, no-cache"]) {
      assert.isUndefined(coded(100_000, { ...json, "cache-control": own }), own)
    }
    assert.isUndefined(coded(2_200_000, { "content-type": "text/html" }))
  })
})
