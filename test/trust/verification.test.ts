/**
 * Verification of a provider with a real mail server, a real name server and real web servers on loopback.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Verification } from "../../domain/trust/Verification.ts"
import { aConsumer, aProvider, at, expecting, listAt, type Member, textAt, valueAt } from "../support/market/Market.ts"
import { memoryCoreReading } from "../support/metering/Core.ts"
import { later } from "../support/metering/TestTime.ts"
import { offerOf, problemOf } from "../support/metering/Shop.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"
import type { MailServer } from "../support/trust/MailServer.ts"
import { evidence, type Page, World } from "../support/trust/World.ts"

const VERIFY = "/api/v1/market/providers/verify"

const ask = (provider: Member, json: Record<string, unknown>) => send({ path: VERIFY, key: provider.key, json })

let reads = 0

/** Never a cached response. */
const levelOf = (provider: Member) =>
  Effect.map(send({ path: `/api/v1/market/providers/${provider.id}/trust?utm_read=${++reads}` }), (answer) =>
    at(answer, "details", "verification_level")
  )

const tokenIn = (mail: MailServer, to: string) =>
  /"token": "([0-9a-f]{64})"/u.exec(mail.letters.findLast((letter) => letter.to === to)?.text ?? "")?.[1]

let providers = 0

/** With an endpoint and a domain of its own. */
const aProviderAt = Effect.gen(function* () {
  const domain = `tools${++providers}.example.org`
  const email = `owner@${domain}`
  const provider = yield* aProvider({ endpoint_url: `https://mcp.${domain}/mcp`, email })
  return { provider, domain, email, record: `_mcp-billing-verify.${domain}` }
})

it.layer(memoryCoreReading(evidence).pipe(Layer.provideMerge(evidence)), LIVE)("Verification", (it) => {
  it.effect("of a mailbox accepts the mailed token, once", () =>
    Effect.gen(function* () {
      const { mail } = yield* World
      const { email, provider } = yield* aProviderAt
      const asked = yield* ask(provider, { level: "email" })
      assert.deepStrictEqual(
        [asked.status, at(asked, "verified"), at(asked, "challenge", "type")],
        [200, false, "email"]
      )
      const token = tokenIn(mail, email)!
      assert.notInclude(asked.text, token)
      const wrong = yield* ask(provider, { level: "email", token: "0".repeat(64) })
      assert.strictEqual(at(wrong, "verified"), false)
      const answers = yield* Effect.all(
        Array.from({ length: 2 }, () => ask(provider, { level: "email", token })),
        { concurrency: "unbounded" }
      )
      assert.isTrue(answers.some((answer) => at(answer, "verified") === true))
      assert.strictEqual(yield* levelOf(provider), "email")
      const done = yield* ask(provider, { level: "email" })
      assert.deepStrictEqual([at(done, "verified"), at(done, "verification_level")], [true, "email"])
      const rival = yield* aProviderAt
      assert.strictEqual(at(yield* ask(rival.provider, { level: "email", token }), "verified"), false)
    })
  )

  it.effect("of a mailbox expires after a day, and has a limited number of requests", () =>
    Effect.gen(function* () {
      const { mail } = yield* World
      const { email, provider } = yield* aProviderAt
      const verification = yield* Verification
      yield* ask(provider, { level: "email" })
      const late = {
        level: "email",
        domain: undefined,
        repositoryUrl: undefined,
        token: tokenIn(mail, email)
      } as const
      assert.isFalse((yield* later("25 hours")(verification.verify(provider.id as never, late))).verified)
      for (let n = 0; n < 2; n++) assert.strictEqual((yield* ask(provider, { level: "email" })).status, 200)
      assert.deepStrictEqual(problemOf(yield* ask(provider, { level: "email" })), [429, "RATE_LIMITED"])
      for (let n = 0; n < 10; n++) yield* ask(provider, { level: "email", token: "x" })
      assert.deepStrictEqual(problemOf(yield* ask(provider, { level: "email", token: "x" })), [429, "RATE_LIMITED"])
    })
  )

  it.effect("of a mailbox reports that the mail server rejects mail", () =>
    Effect.gen(function* () {
      const { mail } = yield* World
      const { provider } = yield* aProviderAt
      mail.refusing = true
      const refused = yield* ask(provider, { level: "email" })
      mail.refusing = false
      assert.deepStrictEqual(problemOf(refused), [502, "PROVIDER_ERROR"])
    })
  )

  it.effect("of a domain reads its TXT record", () =>
    Effect.gen(function* () {
      const { zone } = yield* World
      const { domain, provider, record } = yield* aProviderAt
      const byItself = yield* ask(provider, { level: "domain" })
      assert.strictEqual(at(byItself, "challenge", "record_name"), `_mcp-billing-verify.mcp.${domain}`)
      const asked = yield* ask(provider, { level: "domain", domain })
      assert.deepStrictEqual([at(asked, "verified"), at(asked, "challenge", "record_name")], [false, record])
      const value = textAt(asked, "challenge", "record_value")
      assert.match(value, new RegExp(`^mcp-billing-verify=${provider.id.slice(0, 8)}-[0-9a-f]{64}$`, "u"))
      const early = yield* ask(provider, { level: "domain", domain })
      assert.deepStrictEqual([at(early, "verified"), textAt(early, "challenge", "record_value")], [false, value])
      zone.set(record, ["v=spf1 -all", `mcp-billing-verify=${provider.id.slice(0, 8)}-${"0".repeat(64)}`])
      assert.strictEqual(at(yield* ask(provider, { level: "domain", domain }), "verified"), false)
      zone.set(record, ["v=spf1 -all", value])
      const done = yield* ask(provider, { level: "domain", domain: domain.toUpperCase() })
      assert.deepStrictEqual([at(done, "verified"), at(done, "verification_level")], [true, "domain"])
      assert.isNotNull(at(done, "verified_at"))
      // The catalog shows it too.
      yield* offerOf(provider)
      const listed = yield* expecting(200, { path: `/api/market/catalog?provider_id=${provider.id}` })
      const shown = valueAt(listAt(listed, "tools")[0]!, "provider") as Record<string, unknown>
      assert.deepStrictEqual([shown["verified"], shown["verification_level"]], [true, "domain"])
    })
  )

  it.effect("of a domain reads its well-known file, and rejects one that is wrong, slow, too large or redirected", () =>
    Effect.gen(function* () {
      const { pages } = yield* World
      const { domain, provider } = yield* aProviderAt
      const value = textAt(yield* ask(provider, { level: "domain", domain }), "challenge", "record_value")
      const bad: ReadonlyArray<readonly [said: string, page: Page]> = [
        ["response status was 500", (response) => void response.writeHead(500).end(value)],
        ["was not found", (response) => void response.end(`<html>${value.slice(0, -1)}</html>`)],
        ["belongs to another challenge", (response) => void response.end(`${value}0`)],
        [
          "redirects elsewhere",
          (response) => void response.writeHead(302, { location: "http://private.example.org/x" }).end()
        ],
        ["response is too large", (response) => void response.end("x".repeat(1_000_000) + value)],
        ["in time", (response) => void response.writeHead(200).flushHeaders()]
      ]
      for (const [said, page] of bad) {
        pages.set(domain, page)
        const answer = yield* ask(provider, { level: "domain", domain })
        assert.deepStrictEqual([answer.status, at(answer, "verified")], [200, false], answer.text)
        assert.include(textAt(answer, "message"), said)
      }
      pages.set(domain, (response) => void response.end(`another\r\n  ${value}  \r\n`))
      const last = yield* ask(provider, { level: "domain", domain })
      assert.strictEqual(at(last, "verified"), true, last.text)
    })
  )

  it.effect("of a domain is limited to the endpoint's own", () =>
    Effect.gen(function* () {
      const { domain, provider } = yield* aProviderAt
      for (const other of [
        "example.com",
        "org",
        `evil-${domain}`,
        `sub.mcp.${domain}`,
        "127.0.0.1",
        "",
        "co.uk",
        "a b.org"
      ]) {
        const answer = yield* ask(provider, { level: "domain", domain: other })
        assert.deepStrictEqual(problemOf(answer), [422, "VALIDATION_ERROR"], other)
      }
      const inside = yield* aProviderAt
      const host = `private.${inside.domain}`
      const hidden = yield* aProvider({ endpoint_url: `https://${host}/mcp` })
      yield* ask(hidden, { level: "domain", domain: host })
      assert.include(textAt(yield* ask(hidden, { level: "domain", domain: host }), "message"), "could not be read")
      for (const own of [`mcp.${domain}`, domain, "example.org"]) {
        assert.strictEqual((yield* ask(provider, { level: "domain", domain: own })).status, 200, own)
      }
      for (const repo_url of [
        "https://example.org/a/b",
        "http://github.com/a/b",
        "https://github.com/a",
        "https://github.com/a/..",
        "ftp://x",
        "https://github.com:8080/a/b"
      ]) {
        const answer = yield* ask(provider, { level: "code", repo_url })
        assert.deepStrictEqual(problemOf(answer), [422, "VALIDATION_ERROR"], repo_url)
      }
    })
  )

  it.effect("of a repository reads the file on its default branch", () =>
    Effect.gen(function* () {
      const { pages } = yield* World
      const { provider } = yield* aProviderAt
      const asking = { level: "code", repo_url: "https://github.com/ada/tools.git" }
      const asked = yield* ask(provider, asking)
      assert.deepStrictEqual(
        [at(asked, "challenge", "type"), at(asked, "challenge", "record_name")],
        ["repository_file", ".mcp-billing.json"]
      )
      const text = textAt(asked, "challenge", "record_value")
      assert.strictEqual(at(yield* ask(provider, asking), "verified"), false)
      const { token } = JSON.parse(text) as { readonly token: string }
      for (const forged of [
        token,
        JSON.stringify({ token }),
        JSON.stringify({ provider_id: "another", token }),
        JSON.stringify({ provider_id: provider.id, token: `${token}0` }),
        "{"
      ]) {
        pages.set("raw.example.org", (response) => void response.end(forged))
        assert.strictEqual(at(yield* ask(provider, asking), "verified"), false, forged)
      }
      pages.set("raw.example.org", (response) => void response.end(text))
      const done = yield* ask(provider, asking)
      assert.deepStrictEqual([at(done, "verified"), at(done, "verification_level")], [true, "code"])
    })
  )

  it.effect("lapses when the proof is missing for days, and not when a name server fails", () =>
    Effect.gen(function* () {
      const { zone } = yield* World
      const { domain, provider, record } = yield* aProviderAt
      const { recheck } = yield* Verification
      zone.set(record, [textAt(yield* ask(provider, { level: "domain", domain }), "challenge", "record_value")])
      yield* ask(provider, { level: "domain", domain })
      // More than a day apart, also where all of this takes less than a millisecond.
      const lookAfter = (looks: number) => later(`${looks * 25} hours`)(recheck)
      for (const [day, state, level] of [
        [1, "failing", "domain"],
        [2, "failing", "domain"],
        [3, "failing", "domain"],
        [4, "none", "domain"],
        [5, zone.get(record)!, "domain"],
        [6, "none", "domain"],
        [7, "none", "domain"],
        [8, "none", "unverified"]
      ] as const) {
        zone.set(record, state)
        yield* lookAfter(day)
        assert.strictEqual(yield* levelOf(provider), level, `day ${day}`)
      }
    })
  )

  it.effect("requires a provider's key, and an existing level", () =>
    Effect.gen(function* () {
      const { provider } = yield* aProviderAt
      assert.deepStrictEqual(problemOf(yield* send({ path: VERIFY, json: { level: "email" } })), [401, "UNAUTHORIZED"])
      assert.deepStrictEqual(problemOf(yield* ask(yield* aConsumer(), { level: "email" })), [403, "FORBIDDEN"])
      for (const json of [{}, { level: "blood" }, { level: "email", token: 7 }]) {
        assert.deepStrictEqual(problemOf(yield* ask(provider, json)), [422, "VALIDATION_ERROR"])
      }
      const guide = yield* expecting(200, { path: VERIFY })
      assert.sameMembers(Object.keys(at(guide, "verification_levels") as object), [
        "unverified",
        "email",
        "domain",
        "code"
      ])
    })
  )
})
