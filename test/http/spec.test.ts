/**
 * The specification matches the code: test vectors, lists, limits.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Schema } from "effect"
import { createHash, createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { hmacOf } from "../../adapters/crypto/Hmac.ts"
import { codesByStatus } from "../../adapters/http/contract/Problem.ts"
import { SIGNED_TEXT } from "../../adapters/http/trust/Trust.ts"
import { appendSignedHeaders } from "../../adapters/mcp/ProviderSignature.ts"
import { siteLinks } from "../../adapters/site/kit/Site.ts"
import { logTestVector } from "../../adapters/site/spec/SpecLog.ts"
import { SIGNED_HEADERS } from "../../adapters/site/spec/SpecProviders.ts"
import { reasonNames, sampleSignature } from "../../adapters/site/spec/SpecReceipts.ts"
import { parseTilePath } from "../../domain/log/Tiles.ts"
import { ReceiptStatus, SIGNED_FIELDS } from "../../domain/receipts/Receipt.ts"
import { DisputeReason, DisputeStatus } from "../../domain/trust/DisputeStore.ts"
import { Badge, VerificationLevel } from "../../domain/trust/TrustScore.ts"
import { everyEndpoint, pathOf, titleOf } from "../support/EndpointTable.ts"
import { elementsOf, parseHtml, textOf, wordsOf } from "../support/HtmlCheck.ts"
import { at, expecting } from "../support/Market.ts"
import { projectRoot } from "../support/PlantedProject.ts"
import { verdictBy } from "../support/ReceiptVerdict.ts"
import { LIVE, send, ServiceUnderTest } from "../support/ServiceUnderTest.ts"
import { isSignedByMarket } from "../support/mcp/ProviderCheck.ts"

const changelog = readFileSync(join(projectRoot, "CHANGELOG.md"), "utf8")

/** contract.md, section 7. */
const CHECK_VALUE = "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb"

const receipt = {
  receipt_id: "rcpt_00000000000000000000000000000001",
  tool_id: "t1",
  agent_id: "a1",
  provider_id: "p1",
  timestamp: "2026-01-01T00:00:00.000Z",
  cost_microcents: 50_000,
  status: "success",
  signature: CHECK_VALUE
}

describe("the specification", () => {
  it("has the contract's check value", () => assert.strictEqual(sampleSignature, CHECK_VALUE))

  it("lists the verification reasons in order", () => {
    const faults: ReadonlyArray<readonly [name: string, change: Readonly<Record<string, unknown>>]> = [
      ["missing_fields", { status: "" }],
      ["ambiguous_fields", { tool_id: "t|1" }],
      ["bad_receipt_id", { receipt_id: "rcpt_1" }],
      ["bad_signature_format", { signature: "no" }],
      ["signature_mismatch", {}],
      ["ok", {}]
    ]
    assert.deepStrictEqual(
      reasonNames,
      faults.map(([name]) => name)
    )
    for (const [n, [name]] of faults.entries()) {
      // Later faults are present too: the first one is reported.
      const spoilt = faults.slice(n).reduce((whole, [, change]) => ({ ...whole, ...change }), receipt)
      const genuine = name === "ok"
      assert.strictEqual(verdictBy(spoilt, () => genuine).reason, name)
    }
  })

  it("has a log test vector that follows the written rule", () => {
    const sha256 = (...parts: ReadonlyArray<Uint8Array>) => createHash("sha256").update(Buffer.concat(parts)).digest()
    const entry = sha256(
      Buffer.from("agent-tool-billing/receipt/v1\n"),
      Buffer.from(logTestVector.salt, "hex"),
      Buffer.from(logTestVector.json)
    )
    assert.strictEqual(entry.toString("hex"), logTestVector.commitment)
    assert.strictEqual(sha256(Buffer.of(0), entry).toString("hex"), logTestVector.leaf)
    const names = Object.keys(JSON.parse(logTestVector.json) as object)
    assert.deepStrictEqual(names, names.toSorted())
    assert.lengthOf(names, 11)
  })

  it("describes the signature of requests to providers", () => {
    const secret = Redacted.make("a secret")
    const headers: Array<string> = []
    const subject = { consumerId: "c", toolName: "t", invocationId: "i" }
    appendSignedHeaders(headers, hmacOf(Buffer.from(Redacted.value(secret))), subject, "body", 0)
    const sent = new Map(headers.flatMap((name, n) => (n % 2 === 0 ? [[name, headers[n + 1]!] as const] : [])))
    assert.deepStrictEqual(
      Object.keys(SIGNED_HEADERS).map((name) => name.toLowerCase()),
      [...sent.keys()]
    )
    const filled = SIGNED_TEXT.replace("<body>", createHash("sha256").update("body").digest("hex")).replaceAll(
      /<(\w+)>/gu,
      (_whole, name: string) => sent.get(`x-market-${name}`)!
    )
    assert.strictEqual(createHmac("sha256", "a secret").update(filled).digest("hex"), sent.get("x-market-signature"))
    assert.isTrue(isSignedByMarket(secret, Object.fromEntries(sent), "body"))
  })
})

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_IP_RPM: "77", UPSTREAM_TIMEOUT_MS: "4321" }), LIVE)("GET /spec", (it) => {
  const read = (path: string) =>
    Effect.map(expecting(200, { path }), (answer) => {
      const root = parseHtml(answer.text)
      return { root, elements: elementsOf(root), text: wordsOf(root), headers: answer.headers }
    })

  it.effect("has complete lists and this service's limits", () =>
    Effect.gen(function* () {
      const { elements, headers, text } = yield* read("/spec")
      assert.strictEqual(headers["cache-control"], "public, max-age=60")
      const codes = new Set(elements.filter(({ tag }) => tag === "code").map(textOf))
      const lists = [
        SIGNED_FIELDS,
        reasonNames,
        ReceiptStatus.literals,
        VerificationLevel.literals,
        Badge.literals,
        DisputeStatus.literals,
        DisputeReason.literals,
        Object.values(codesByStatus).flat()
      ]
      for (const name of lists.flat()) assert.isTrue(codes.has(name), name)
      assert.isTrue(codes.has(CHECK_VALUE))
      assert.isTrue(codes.has(SIGNED_FIELDS.join("|")))
      assert.include(text, "IP address 77")
      assert.include(text, "The timeout of an attempt is 4,321 ms")
      for (const tile of [...codes].filter((one) => /^(?:\d|entries)\/(?:x?\d{3})/u.test(one)))
        assert.isDefined(parseTilePath(tile), tile)
    })
  )

  it.effect("names the JSON Schema of a receipt, which is that of the OpenAPI document", () =>
    Effect.gen(function* () {
      const { elements, text } = yield* read("/spec")
      assert.include(text, "Billing v1 Public Receipt")
      const path = elements
        .filter(({ tag }) => tag === "code")
        .map(textOf)
        .find((one) => one.endsWith(".schema.json"))!
      const served = yield* expecting(200, { path })
      const { $id, $schema, ...schema } = served.json as Schema.JsonObject
      assert.match(String($schema), /^https:\/\/json-schema\.org\//u)
      assert.isTrue(String($id).endsWith(path))
      assert.strictEqual(schema["title"], "Billing v1 Public Receipt")
      const openapi = yield* expecting(200, { path: "/api/openapi.json" })
      assert.deepStrictEqual<unknown>(schema, at(openapi, "components", "schemas", "Receipt"))
      const agents = yield* expecting(200, { path: "/.well-known/agents.json" })
      assert.deepStrictEqual<unknown>(at(agents, "receipts", "schema"), { title: schema["title"], url: $id })
      assert.strictEqual(at(yield* expecting(200, { path: "/api/v1" }), "market", "version"), "0.4.0")
    })
  )

  it.effect("has ordered headings, unique ids and no broken links", () =>
    Effect.gen(function* () {
      for (const path of ["/spec", "/changelog", "/status"]) {
        const { elements } = yield* read(path)
        const levels = elements.flatMap(({ tag }) => (/^h[1-6]$/u.test(tag) ? [Number(tag[1])] : []))
        assert.strictEqual(levels.filter((level) => level === 1).length, 1, path)
        for (const [index, level] of levels.entries()) assert.isAtMost(level, (levels[index - 1] ?? 0) + 1, path)
        const ids = elements.flatMap(({ attributes: { id } }) => (id === undefined ? [] : [id]))
        assert.strictEqual(new Set(ids).size, ids.length)
        const links = elements.flatMap(({ attributes: { href }, tag }) => (tag === "a" ? [href!] : []))
        for (const link of links) {
          if (link.startsWith("#")) assert.include(ids, link.slice(1), path)
          else yield* expecting(200, { path: link })
        }
      }
      for (const link of siteLinks) yield* expecting(200, { path: link })
    })
  )

  it.effect("and the changelog name only existing endpoints and pages", () =>
    Effect.gen(function* () {
      const spec = yield* read("/spec")
      const written = [...spec.elements.filter(({ tag }) => tag === "code").map(textOf), changelog].join("\n")
      const titles = everyEndpoint().map(titleOf)
      const named = [...written.matchAll(/\b(GET|POST|DELETE) (\/[\w/.:{}<>-]+)/gu)].map(([, method, path]) => ({
        method: method!,
        path: path!.replaceAll(/<\w+>/gu, ":id")
      }))
      assert.isAbove(named.length, 10)
      for (const { method, path } of named) assert.include(titles, `${method} ${path}`)
      const pages = [...written.matchAll(/(?<![\w>./`|])`(\/[a-z/.-]+[a-z])`/gu)].map(([, path]) => path!)
      assert.isAbove(pages.length, 3)
      // The limit of this service is per address.
      for (const path of pages) {
        const found = yield* send({ path, from: "192.0.2.7" })
        // Some pages have moved since.
        const isMoved = found.status === 302
        const answer = isMoved ? yield* send({ path: found.headers["location"]!, from: "192.0.2.7" }) : found
        assert.strictEqual(answer.status, 200, path)
      }
      assert.isTrue(everyEndpoint().every((endpoint) => pathOf(endpoint).startsWith("/")))
    })
  )

  it.effect("has the changelog as Markdown", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: "/changelog.md" })
      assert.match(answer.headers["content-type"]!, /^text\/markdown/u)
      assert.strictEqual(answer.text, changelog)
    })
  )

  it.effect("has every change of the changelog on its page, with an address for each release", () =>
    Effect.gen(function* () {
      const { elements } = yield* read("/changelog")
      const shown = new Set(elements.filter(({ tag }) => /^(?:h\d|li|p)$/u.test(tag)).map(wordsOf))
      const written = changelog
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("## "))
        .map((line) => line.replace(/^(?:#+|-) /u, "").replaceAll("`", ""))
      assert.isAbove(written.length, 50)
      assert.deepStrictEqual(
        written.filter((line) => !shown.has(line)),
        []
      )
      const addresses = elements.flatMap(({ attributes: { id }, tag }) => (tag === "section" ? [id] : []))
      assert.include(addresses, "v0-4-0")
    })
  )
})

it.layer(ServiceUnderTest.memory(), LIVE)("unknown URLs", (it) => {
  const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" }

  it.effect("return a page to browsers and a problem to other clients", () =>
    Effect.gen(function* () {
      for (const path of ["/nothing", "/api/v1/nothing", "/docs/more", "/<script>alert(1)</script>"]) {
        for (const method of ["GET", "HEAD"]) {
          const page = yield* expecting(404, { method, path, headers: BROWSER })
          assert.match(page.headers["content-type"]!, /^text\/html/u)
          assert.include(page.headers, { "cache-control": "no-store", vary: "Accept, Origin" })
          assert.include(page.headers["content-security-policy"], "default-src 'none'")
          assert.notInclude(page.text, "alert(1)")
        }
        for (const headers of [
          {},
          { accept: "*/*" },
          { accept: "application/json" },
          { accept: "application/json, text/html" }
        ]) {
          const problem = yield* expecting(404, { path, headers })
          assert.match(problem.headers["content-type"]!, /^application\/problem\+json/u)
        }
        const posted = yield* expecting(404, { method: "POST", path, headers: BROWSER })
        assert.match(posted.headers["content-type"]!, /^application\/problem\+json/u)
      }
    })
  )

  it.effect("return a problem for unsupported methods", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(405, { path: "/api/market/proxy", headers: BROWSER })
      assert.match(answer.headers["content-type"]!, /^application\/problem\+json/u)
    })
  )
})
