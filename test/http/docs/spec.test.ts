/**
 * The specification matches the code: test vectors, lists, limits.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { createHash, createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { hmacOf } from "../../../adapters/crypto/Hmac.ts"
import { codesByStatus } from "../../../adapters/http/contract/Problem.ts"
import { RECEIPT_SCHEMA_PATH, RECEIPT_SCHEMA_TITLE } from "../../../adapters/http/contract/SharedFields.ts"
import { BODY_BYTES_MAX, JSON_DEPTH_MAX } from "../../../adapters/http/pipeline/Decoding.ts"
import { SIGNED_TEXT } from "../../../adapters/http/trust/Trust.ts"
import { appendSignedHeaders } from "../../../adapters/mcp/client/ProviderSignature.ts"
import { siteLinks } from "../../../adapters/site/kit/Site.ts"
import { KEYS_PER_OWNER_MAX } from "../../../domain/accounts/Keys.ts"
import { FREE_TIER_CALLS_MAX } from "../../../domain/catalog/Terms.ts"
import { BillingPolicy } from "../../../domain/catalog/Tool.ts"
import { PayoutState } from "../../../domain/earnings/PayoutStore.ts"
import { PAYOUT_CENTS_MIN } from "../../../domain/earnings/Payouts.ts"
import { BudgetPeriod } from "../../../domain/ledger/Budgets.ts"
import { canonicalJson, COMMITMENT_PREFIX, commitmentOf, formatProof } from "../../../domain/log/Commitment.ts"
import { COSIGNATURE, cosignedText, ED25519 } from "../../../domain/log/SignedNote.ts"
import { ENTRIES, TILE_WIDTH, tilePath } from "../../../domain/log/Tiles.ts"
import { MAX_COST_FIELD, REPORTED_COST_FIELD } from "../../../domain/metering/CallTerms.ts"
import { REPORT_DAYS_MAX } from "../../../domain/metering/DirectMetering.ts"
import { GRANT_TOOLS_MAX, GrantPeriod, GRANTS_PER_CONSUMER_MAX } from "../../../domain/metering/Grants.ts"
import { LOAD_CENTS_MAX, LOAD_CENTS_MIN } from "../../../domain/payments/Loads.ts"
import {
  canonical,
  Receipt,
  RECEIPT_ALGORITHM,
  ReceiptStatus,
  SIGNED_FIELDS
} from "../../../domain/receipts/Receipts.ts"
import {
  formatDollars,
  fromCents,
  MICROCENTS_PER_CENT,
  MICROCENTS_PER_DOLLAR
} from "../../../domain/shared/Microcents.ts"
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "../../../domain/shared/Page.ts"
import { MAIL_TOKEN_HOURS, RECORD_PREFIX, REPOSITORY_FILE, WELL_KNOWN_PATH } from "../../../domain/trust/Challenge.ts"
import { DecidedBy, DisputeReason, DisputeStatus, Resolution } from "../../../domain/trust/DisputeStore.ts"
import { ANSWER_DAYS, DECISION_DAYS, FILED_PER_DAY_MAX, FILING_DAYS_MAX } from "../../../domain/trust/Disputes.ts"
import { PAID_CONSUMER_MICROCENTS_MIN } from "../../../domain/trust/PaidCalls.ts"
import { INPUT_REJECTED_SHARE_MAX, SLA_DAYS } from "../../../domain/trust/Sla.ts"
import {
  BADGE_POINTS,
  BADGES,
  DISPUTE_POINTS,
  DISPUTE_POINTS_LEAST,
  HALF_CONFIDENCE_CALLS,
  LATENCY_POINTS,
  LATENCY_POINTS_LEAST,
  MIDDLE,
  RATED_CALLS_MIN,
  RATED_CONSUMERS_MIN,
  UPTIME_POINTS,
  UPTIME_POINTS_LEAST,
  VERIFICATION_LEVELS,
  VERIFICATION_POINTS
} from "../../../domain/trust/TrustScore.ts"
import { PUBLISHED_TOKEN_DAYS } from "../../../domain/trust/Verification.ts"
import { REPORTED_COST_META } from "../../../domain/upstream/Protocol.ts"
import { everyEndpoint, pathOf, titleOf } from "../../support/checks/EndpointTable.ts"
import { elementsOf, parseHtml, textOf, wordsOf } from "../../support/checks/HtmlCheck.ts"
import { verdictBy } from "../../support/checks/ReceiptVerdict.ts"
import { at, expecting } from "../../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import { isSignedByMarket } from "../../support/mcp/ProviderCheck.ts"
import { projectRoot } from "../../support/project/PlantedProject.ts"

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

/** Without the line breaks and the padding of the formatter. */
const spec = readFileSync(join(projectRoot, "docs/spec.md"), "utf8").replaceAll(/ +/gu, " ")

/** The rows of the tables whose header begins like this. */
const rowsOf = (header: string): ReadonlyArray<ReadonlyArray<string>> => {
  const [, after] = spec.split(`\n| ${header} |`)
  assert.isDefined(after, header)
  const lines = after!.split("\n").slice(2)
  return lines.slice(0, lines.indexOf("")).map((line) => line.slice(2, -2).split(" | "))
}
const namesOf = (header: string) => rowsOf(header).map(([name]) => name!.replaceAll("`", ""))
const quoted = (names: ReadonlyArray<string>): string => names.map((name) => `\`${name}\``).join(", ")
const grouped = (value: number | bigint): string => value.toLocaleString("en-US")

const sha256 = (...parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  createHash("sha256").update(Buffer.concat(parts)).digest()

describe("the specification", () => {
  it("has the contract's check value", () => {
    const signature = createHmac("sha256", "contract-check").update(canonical(receipt)).digest("hex")
    assert.strictEqual(signature, CHECK_VALUE)
    assert.include(spec, `With the secret \`contract-check\`, the text\n\n\`\`\`\n${canonical(receipt)}\n`)
    assert.include(spec, `\n${CHECK_VALUE}\n`)
  })

  it("lists the fields of a receipt, and which of them are signed", () => {
    assert.deepStrictEqual(
      rowsOf("Field").map(([name, , signed]) => [name, signed]),
      Object.keys(Receipt.fields).map((name) => [
        `\`${name}\``,
        (SIGNED_FIELDS as ReadonlyArray<string>).includes(name) ? "yes" : "no"
      ])
    )
    assert.include(spec, `\n${SIGNED_FIELDS.join("|")}\n`)
  })

  it("lists the verification reasons in order", () => {
    const faults: ReadonlyArray<readonly [name: string, change: Readonly<Record<string, unknown>>]> = [
      ["missing_fields", { status: "" }],
      ["ambiguous_fields", { tool_id: "t|1" }],
      ["bad_receipt_id", { receipt_id: "rcpt_1" }],
      ["bad_signature_format", { signature: "no" }],
      ["signature_mismatch", {}],
      ["ok", {}]
    ]
    const reasons = /first reason that applies:\n\n(?:\d+\. .*\n)+/u.exec(spec)![0].matchAll(/^\d+\. `(\w+)`: /gmu)
    assert.deepStrictEqual(
      [...reasons].map(([, name]) => name),
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
    const [json, salt, entry, leaf] = rowsOf("Part").map(([, value]) => value!.replaceAll("`", ""))
    const stored = Schema.decodeUnknownSync(Receipt)(JSON.parse(json!))
    const bytes = Buffer.from(salt!, "hex")
    assert.strictEqual(json, canonicalJson(stored))
    const computed = sha256(Buffer.from("agent-tool-billing/receipt/v1\n"), bytes, Buffer.from(json!))
    assert.deepStrictEqual(computed, commitmentOf(sha256, bytes, stored))
    assert.strictEqual(entry, Buffer.from(computed).toString("hex"))
    assert.strictEqual(leaf, Buffer.from(sha256(Buffer.of(0), computed)).toString("hex"))
    assert.include(spec, `SHA-256(${JSON.stringify(COMMITMENT_PREFIX)} + salt + json)`)
    assert.lengthOf(Object.keys(JSON.parse(json!) as object), 11)
  })

  it("has the code's lists", () => {
    const lists: ReadonlyArray<readonly [names: ReadonlyArray<string>, listed: ReadonlyArray<string>]> = [
      [namesOf("Status"), ReceiptStatus.literals],
      [namesOf("Policy"), BillingPolicy.literals],
      [namesOf("State"), PayoutState.literals],
      [namesOf("Period"), GrantPeriod.literals],
      [namesOf("Decider"), DecidedBy.literals],
      [namesOf("Badge"), BADGES]
    ]
    for (const [names, listed] of lists) assert.sameMembers([...names], [...listed])
    for (const name of DisputeStatus.literals) assert.include(spec, `\n| \`${name}\` |`)
  })

  it("has the code's points", () => {
    assert.deepStrictEqual(
      rowsOf("Level").map(([level, , points]) => [level, points]),
      VERIFICATION_LEVELS.map((level) => [`\`${level}\``, String(VERIFICATION_POINTS[level])])
    )
    assert.deepStrictEqual(rowsOf("At least"), [
      ...UPTIME_POINTS.map(([least, points]) => [`${least}%`, String(points)]),
      ["lower", String(UPTIME_POINTS_LEAST)]
    ])
    assert.deepStrictEqual(rowsOf("At most"), [
      ...LATENCY_POINTS.map(([most, points]) => [`${grouped(most)} ms`, String(points)]),
      ["higher", String(LATENCY_POINTS_LEAST)]
    ])
    assert.deepStrictEqual(rowsOf("Share"), [
      ["none", "25"],
      ...DISPUTE_POINTS.map(([below, points]) => [`below ${below * 100}%`, String(points)]),
      ["higher", String(DISPUTE_POINTS_LEAST)]
    ])
    for (const [badge, condition] of rowsOf("Badge")) {
      const least = BADGE_POINTS.find(([, name]) => `\`${name}\`` === badge)?.[0]
      assert.include(condition, least === undefined ? `a score below ${BADGE_POINTS.at(-1)![0]}.` : `at least ${least}`)
    }
  })

  it.each([
    `_${RECEIPT_SCHEMA_TITLE}_, is at \`${RECEIPT_SCHEMA_PATH}\``,
    `\`signature\` is ${RECEIPT_ALGORITHM} of this text`,
    `it is empty unless ${quoted(SIGNED_FIELDS)} all have the right type`,
    `The kind is \`0x0${ED25519}\` (Ed25519) for the log and \`0x0${COSIGNATURE}\` for witnesses`,
    formatProof({ salt: new Uint8Array(0), index: 0, path: [], checkpoint: "" }).split("\n")[0]!,
    `C2SP tlog-tiles of ${TILE_WIDTH} hashes`,
    `| \`${tilePath({ level: 0, index: 1_234_067, width: TILE_WIDTH })}\` |`,
    `| \`${tilePath({ level: 1, index: 0, width: 17 })}\` |`,
    `| \`${tilePath({ level: ENTRIES, index: 0, width: TILE_WIDTH })}\` |`,
    cosignedText("<checkpoint text>", 1_767_225_600),
    `1 cent is ${grouped(MICROCENTS_PER_CENT)}, 1 US dollar ${grouped(MICROCENTS_PER_DOLLAR)}.`,
    `in \`_meta\` as \`${MAX_COST_FIELD}\``,
    `as the integer \`${REPORTED_COST_META}\` or \`${REPORTED_COST_FIELD}\` in the \`_meta\``,
    `at most ${grouped(FREE_TIER_CALLS_MAX)} per tool`,
    `(${quoted(BudgetPeriod.literals)}, UTC calendar)`,
    `A load is ${formatDollars(fromCents(LOAD_CENTS_MIN))} to ${formatDollars(fromCents(LOAD_CENTS_MAX))},`,
    `whole cents, from ${formatDollars(fromCents(PAYOUT_CENTS_MIN))};`,
    `up to ${KEYS_PER_OWNER_MAX} active keys`,
    `at most ${grouped(BODY_BYTES_MAX)} bytes and ${JSON_DEPTH_MAX} levels`,
    `(default ${PAGE_LIMIT_DEFAULT}, usually at most ${PAGE_LIMIT_MAX})`,
    SIGNED_TEXT.replaceAll("\n", "\\n"),
    `within the last ${REPORT_DAYS_MAX} days`,
    `for up to ${GRANT_TOOLS_MAX} tools or all tools`,
    `at most ${GRANTS_PER_CONSUMER_MAX} grants`,
    `expires after ${MAIL_TOKEN_HOURS} hours`,
    `a TXT record \`${RECORD_PREFIX}.<domain>\` or the same text at \`${WELL_KNOWN_PATH}\``,
    `by \`${REPOSITORY_FILE}\` with`,
    `checked within ${PUBLISHED_TOKEN_DAYS} days`,
    `at least ${formatDollars(PAID_CONSUMER_MICROCENTS_MIN)} net of refunds within ${SLA_DAYS} days`,
    `up to ${INPUT_REJECTED_SHARE_MAX * 100}% of a consumer's calls`,
    `confidence = calls / (calls + ${HALF_CONFIDENCE_CALLS})`,
    `points = round(${MIDDLE} + (points - ${MIDDLE}) × confidence) ${MIDDLE} without calls`,
    `Fewer than ${RATED_CALLS_MIN} counted calls or ${RATED_CONSUMERS_MIN} counted consumers`,
    `dispute it for ${FILING_DAYS_MAX} days`,
    `at most ${FILED_PER_DAY_MAX} disputes per day`,
    `one of the reasons ${quoted(DisputeReason.literals)};`,
    `No response within ${ANSWER_DAYS} days`,
    `The operator decided, with ${quoted(Resolution.literals)}.`,
    `no decision within ${DECISION_DAYS} days`
  ])("says: %s", (sentence) => assert.include(spec, sentence))

  it("describes the signature of requests to providers", () => {
    const secret = Redacted.make("a secret")
    const headers: Array<string> = []
    const subject = { consumerId: "c", toolName: "t", invocationId: "i" }
    appendSignedHeaders(headers, hmacOf(Buffer.from(Redacted.value(secret))), subject, "body", 0)
    const sent = new Map(headers.flatMap((name, n) => (n % 2 === 0 ? [[name, headers[n + 1]!] as const] : [])))
    assert.deepStrictEqual(
      namesOf("Header").map((name) => name.toLowerCase()),
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

  it.effect("has this service's settings", () =>
    Effect.gen(function* () {
      const { elements, headers, text } = yield* read("/spec")
      assert.strictEqual(headers["cache-control"], "public, max-age=60")
      const codes = new Set(elements.filter(({ tag }) => tag === "code").map(textOf))
      assert.isTrue(codes.has(CHECK_VALUE))
      assert.isTrue(codes.has(SIGNED_FIELDS.join("|")))
      assert.include(text, "The timeout of an attempt is 4,321 ms")
      assert.include(text, "At most one retry after a 5xx")
      assert.include(text, "The default fee is 10% (1,000 basis points)")
      assert.isTrue(
        elements.some((row) => row.tag === "tr" && row.children.length > 2 && /500\s*50\s*450/u.test(textOf(row)))
      )
      const markdown = yield* expecting(200, { path: "/spec.md" })
      assert.match(markdown.headers["content-type"]!, /^text\/markdown/u)
      assert.include(markdown.text, "The timeout of an attempt is 4,321 ms")
      for (const filled of [text, markdown.text]) assert.notMatch(filled, /\{\{|undefined/u)
    })
  )

  it.effect("has its limits in the conventions, and every code on the page of errors", () =>
    Effect.gen(function* () {
      assert.include((yield* read("/docs/api")).text, "IP address 77")
      const { elements } = yield* read("/docs/errors")
      const codes = new Set(elements.filter(({ tag }) => tag === "code").map(textOf))
      for (const name of Object.values(codesByStatus).flat()) assert.isTrue(codes.has(name), name)
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
          else yield* expecting(200, { path: link.split("#")[0]! })
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
