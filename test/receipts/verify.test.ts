/**
 * POST /api/v1/verify: the same verdict for the same receipt, for every caller and body.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { at, expecting, textAt } from "../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const VERIFY = "/api/v1/verify"

/** The contract's own check value: secret, receipt and signature. */
const SECRET = "contract-check"
const RECEIPT = {
  receipt_id: "rcpt_00000000000000000000000000000001",
  tool_id: "t1",
  agent_id: "a1",
  provider_id: "p1",
  timestamp: "2026-01-01T00:00:00.000Z",
  cost_microcents: 50_000,
  status: "success",
  signature: "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb"
}
const CANONICAL = "rcpt_00000000000000000000000000000001|t1|a1|p1|2026-01-01T00:00:00.000Z|50000|success"
const SIGNED = ["receipt_id", "tool_id", "agent_id", "provider_id", "timestamp", "cost_microcents", "status"] as const
const TEXTS = SIGNED.filter((name) => name !== "cost_microcents")
const ALL_EIGHT = [...SIGNED, "signature"]

type Fields = Readonly<Record<string, unknown>>

const without = (...names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(Object.entries(RECEIPT).filter(([name]) => !names.includes(name)))

const verdictOn = (json: unknown) =>
  Effect.map(expecting(200, { path: VERIFY, json }), (answer) => {
    const { verified_at, ...verdict } = at(answer, "verification") as Record<string, unknown>
    assert.match(String(verified_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u)
    return verdict
  })

const checked = (canonical: string) => ({ canonical, algorithm: "HMAC-SHA256" })
const missing = (names: ReadonlyArray<string>, canonical = "") => ({
  valid: false,
  reason: "missing_fields",
  missing: names,
  checked: checked(canonical)
})
const refused = (reason: string, canonical: string) => ({ valid: false, reason, checked: checked(canonical) })

const canonicalOf = (fields: Fields): string => SIGNED.map((name) => String(fields[name])).join("|")

const knowing = ServiceUnderTest.memory({ RECEIPT_SIGNING_SECRETS_OLD: SECRET, RECEIPT_SIGNING_SECRET: "n".repeat(32) })

it.layer(knowing, LIVE)("The verdict on a receipt", (it) => {
  it.effect("is ok for the contract's check value, bare or wrapped, with or without the unsigned fields", () =>
    Effect.gen(function* () {
      const ok = { valid: true, reason: "ok", checked: checked(CANONICAL) }
      const unsigned = { tool_name: "x", duration_ms: 1, created_at: "whenever", receipt: "not this", more: [] }
      for (const body of [RECEIPT, { receipt: RECEIPT }, { receipt: RECEIPT, more: 1 }, { ...RECEIPT, ...unsigned }]) {
        assert.deepStrictEqual(yield* verdictOn(body), ok)
      }
      const answer = yield* expecting(200, { path: VERIFY, json: { receipt: RECEIPT } })
      assert.deepStrictEqual(at(answer, "receipt"), RECEIPT)
      assert.strictEqual(answer.headers["cache-control"], "no-store")
    })
  )

  it.effect("names what is missing, in signed order, then the signature; the canonical text is empty", () =>
    Effect.gen(function* () {
      for (const name of SIGNED) assert.deepStrictEqual(yield* verdictOn(without(name)), missing([name]))
      assert.deepStrictEqual(yield* verdictOn(without("signature")), missing(["signature"], CANONICAL))
      const some = without("status", "receipt_id", "signature", "cost_microcents")
      assert.deepStrictEqual(yield* verdictOn(some), missing(["receipt_id", "cost_microcents", "status", "signature"]))
      const shuffled = Object.fromEntries(Object.entries(RECEIPT).toReversed())
      assert.deepStrictEqual(
        yield* verdictOn({ ...shuffled, tool_id: null, agent_id: 5 }),
        missing(["tool_id", "agent_id"])
      )
    })
  )

  it.effect("treats a field of the wrong type as missing: nothing is coerced", () =>
    Effect.gen(function* () {
      for (const name of [...TEXTS, "signature"] as const) {
        for (const wrong of ["", null, 0, 1, true, [], {}, ["x"], [RECEIPT[name]], { toString: RECEIPT[name] }]) {
          const expected = missing([name], name === "signature" ? CANONICAL : "")
          assert.deepStrictEqual(
            yield* verdictOn({ ...RECEIPT, [name]: wrong }),
            expected,
            `${name} ${JSON.stringify(wrong)}`
          )
        }
      }
      for (const wrong of ["50000", "", null, true, [], [50_000], {}, 50_000.5, 1e-7, "5e4"]) {
        const body = { ...RECEIPT, cost_microcents: wrong }
        assert.deepStrictEqual(yield* verdictOn(body), missing(["cost_microcents"]), JSON.stringify(wrong))
      }
    })
  )

  it.effect("accepts any integer as an amount, and writes it in base 10", () =>
    Effect.gen(function* () {
      const amounts = [
        ["0", "0"],
        ["-0", "0"],
        ["-5", "-5"],
        ["50000.0", "50000"],
        ["5e4", "50000"],
        ["9007199254740991", "9007199254740991"],
        ["1e21", "1000000000000000000000"]
      ] as const
      for (const [written, text] of amounts) {
        const body = JSON.stringify(RECEIPT).replace("50000", written)
        const answer = yield* expecting(200, { path: VERIFY, body })
        assert.strictEqual(at(answer, "verification", "checked", "canonical"), CANONICAL.replace("50000", text))
        const same = text === "50000"
        assert.strictEqual(at(answer, "verification", "reason"), same ? "ok" : "signature_mismatch", written)
      }
    })
  )

  it.effect("is ambiguous_fields for a | in any signed text, before the id and the signature are checked", () =>
    Effect.gen(function* () {
      for (const name of TEXTS) {
        for (const text of ["|", `${RECEIPT[name]}|`, `|${RECEIPT[name]}`, "a|b"]) {
          for (const also of [{}, { signature: "nonsense" }]) {
            const body = { ...RECEIPT, ...also, [name]: text }
            assert.deepStrictEqual(yield* verdictOn(body), refused("ambiguous_fields", canonicalOf(body)))
          }
        }
      }
      // Moving the separator gives the same bytes, and differs from the receipt that was signed.
      const moved = { ...RECEIPT, tool_id: "t1|a1", agent_id: "p1", provider_id: RECEIPT.timestamp }
      assert.strictEqual((yield* verdictOn(moved))["reason"], "ambiguous_fields")
      assert.strictEqual((yield* verdictOn({ ...RECEIPT, signature: "a|b" }))["reason"], "bad_signature_format")
      assert.strictEqual((yield* verdictOn({ ...RECEIPT, tool_name: "a|b" }))["reason"], "ok")
    })
  )

  it.effect("is bad_receipt_id, then bad_signature_format, then signature_mismatch", () =>
    Effect.gen(function* () {
      const id = RECEIPT.receipt_id
      for (const receipt_id of [
        "x",
        "rcpt_",
        `rcpt_${"0".repeat(15)}`,
        `${id}-0`,
        id.toUpperCase(),
        id.replace("rcpt", "RCPT"),
        `${id.slice(0, -1)}g`,
        ` ${id}`,
        `${id}\n`,
        `${id.slice(0, -1)}A`
      ]) {
        for (const signature of [RECEIPT.signature, "nonsense"]) {
          const body = { ...RECEIPT, receipt_id, signature }
          assert.deepStrictEqual(yield* verdictOn(body), refused("bad_receipt_id", canonicalOf(body)))
        }
      }
      const good = RECEIPT.signature
      for (const signature of [
        "x",
        good.slice(1),
        `${good}0`,
        good.toUpperCase(),
        `g${good.slice(1)}`,
        ` ${good}`,
        `${good}\n`,
        `0x${good}`
      ]) {
        assert.deepStrictEqual(yield* verdictOn({ ...RECEIPT, signature }), refused("bad_signature_format", CANONICAL))
      }
      for (const signature of ["0".repeat(64), `${good.slice(0, -1)}c`, good.split("").toReversed().join("")]) {
        assert.deepStrictEqual(yield* verdictOn({ ...RECEIPT, signature }), refused("signature_mismatch", CANONICAL))
      }
    })
  )

  it.effect("is ok for a signed id of 16 digits or more: existing clients hold such receipts", () =>
    Effect.gen(function* () {
      for (const digits of [16, 17, 31, 32, 33, 64, 1_000]) {
        const unsigned = { ...RECEIPT, receipt_id: `rcpt_${"0123456789abcdef".repeat(63).slice(0, digits)}` }
        const signature = createHmac("sha256", SECRET).update(canonicalOf(unsigned)).digest("hex")
        const verdict = yield* verdictOn({ ...unsigned, signature })
        assert.deepStrictEqual(verdict, { valid: true, reason: "ok", checked: checked(canonicalOf(unsigned)) })
        assert.strictEqual((yield* verdictOn(unsigned))["reason"], "signature_mismatch")
      }
    })
  )

  it.effect("is signature_mismatch when any signed field differs, by a single character", () =>
    Effect.gen(function* () {
      const changes: Fields = {
        receipt_id: RECEIPT.receipt_id.replace(/1$/u, "2"),
        tool_id: "t2",
        agent_id: "A1",
        provider_id: "p1 ",
        timestamp: "2026-01-01T00:00:00.001Z",
        cost_microcents: 49_999,
        status: "Success"
      }
      for (const [name, value] of Object.entries(changes)) {
        const body: Fields = { ...RECEIPT, [name]: value }
        assert.deepStrictEqual(yield* verdictOn(body), refused("signature_mismatch", canonicalOf(body)))
      }
      for (const timestamp of ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00.000+01:00", "2026-01-01 00:00:00.000Z"]) {
        assert.strictEqual((yield* verdictOn({ ...RECEIPT, timestamp }))["reason"], "signature_mismatch")
      }
    })
  )

  it.effect(
    "of a value that is not an object is that all eight fields are missing; it is returned as it was sent",
    () =>
      Effect.gen(function* () {
        const deep = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : [deep(depth - 1, inner)])
        for (const body of [null, 5, 0, -1.5, true, false, "", "x", [], [RECEIPT], deep(1_000, 7), {}, { x: 1 }]) {
          const answer = yield* expecting(200, { path: VERIFY, body: JSON.stringify(body) })
          assert.strictEqual(answer.text.startsWith(`{"receipt":${JSON.stringify(body)},"verification"`), true)
          assert.deepStrictEqual(at(answer, "verification", "missing"), ALL_EIGHT)
          assert.strictEqual(at(answer, "verification", "checked", "canonical"), "")
          if (!(typeof body === "object" && body !== null && Object.keys(body).length === 1)) {
            assert.deepStrictEqual(yield* verdictOn({ receipt: body }), missing(ALL_EIGHT))
          }
        }
        const nested = { a: deep(1_000, {}), ...RECEIPT }
        assert.strictEqual((yield* verdictOn(nested))["reason"], "ok")
      })
  )

  it.effect("is 400 with exactly two fields for a body that is not JSON", () =>
    Effect.gen(function* () {
      const notJson = [
        "",
        " ",
        "{",
        "}",
        "{'a':1}",
        "undefined",
        "NaN",
        "[1,]",
        "01",
        "\u0000",
        '"\\x"',
        "{}{}",
        "// x"
      ]
      for (const body of [...notJson, new Uint8Array([0x22, 0xff, 0x22])]) {
        const answer = yield* send({ path: VERIFY, body })
        assert.strictEqual(answer.status, 400, String(body))
        assert.strictEqual(answer.text, '{"error":true,"code":"BAD_REQUEST"}')
        assert.match(answer.headers["content-type"]!, /^application\/json/u)
        assert.strictEqual(answer.headers["cache-control"], "no-store")
      }
    })
  )

  it.effect("is returned to POST only: every other method is an empty 405 with Allow", () =>
    Effect.gen(function* () {
      for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE"]) {
        const answer = yield* send({ path: VERIFY, method })
        assert.strictEqual(answer.status, 405, method)
        assert.strictEqual(answer.text, "")
        assert.strictEqual(answer.headers["cache-control"], "no-store")
        assert.strictEqual(answer.headers["access-control-allow-methods"], "POST, OPTIONS")
      }
      const preflight = yield* send({ path: VERIFY, method: "OPTIONS" })
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers["access-control-max-age"], "86400")
    })
  )

  it.effect("needs no key, stores nothing, and is written in canonical form", () =>
    Effect.gen(function* () {
      const once = yield* expecting(200, { path: VERIFY, json: RECEIPT })
      const again = yield* expecting(200, { path: VERIFY, json: RECEIPT })
      assert.strictEqual(textAt(once, "verification", "reason"), "ok")
      assert.deepStrictEqual(at(again, "receipt"), at(once, "receipt"))
      assert.isUndefined(again.headers["idempotent-replay"])
    })
  )

  it.effect("accepts what no database would, and keeps to its limits", () =>
    Effect.gen(function* () {
      const odd = '{"receipt_id":"\\u0000","tool_id":"\\ud800","__proto__":{"status":"success"},"constructor":1}'
      const answer = yield* expecting(200, { path: VERIFY, body: odd })
      assert.include(at(answer, "verification", "missing"), "status")
      assert.isTrue(answer.text.startsWith(`{"receipt":${JSON.stringify(JSON.parse(odd))},`), answer.text)
      assert.strictEqual((yield* send({ path: VERIFY, body: `"${"x".repeat(100_000)}"` })).status, 413)
      assert.strictEqual(
        (yield* send({ path: VERIFY, body: "{}", headers: { "content-type": "text/xml" } })).status,
        415
      )
    })
  )
})
