/**
 * `Receipts.verify` and the offline `verifyReceipt` return a verdict for any value and never throw.
 */
import { assert, describe, it } from "@effect/vitest"
import { verifyReceipt as verifyOffline } from "../../adapters/site/verify/ReceiptVerifier.browser.ts"
import { SIGNED_FIELDS } from "../../domain/receipts/Receipts.ts"
import { verdictBy } from "../support/checks/ReceiptVerdict.ts"

const RECEIPT = {
  receipt_id: "rcpt_00000000000000000000000000000001",
  tool_id: "t1",
  tool_name: "echo",
  agent_id: "a1",
  provider_id: "p1",
  timestamp: "2026-01-01T00:00:00.000Z",
  duration_ms: 5,
  cost_microcents: 50_000,
  status: "success",
  signature: "9bf9c89da427a08466f4be36b04f2e7ad5338375b774f560bd4c0b8e4b937cfb",
  created_at: "2026-01-01T00:00:00.000Z"
}
const VKEY = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
const PROOF = `c2sp.org/tlog-proof@v1\nextra ${"A".repeat(43)}=\nindex 0\n\nsum.golang.org\n1\n${"A".repeat(43)}=\n\n— x AAAAAAAAAAA=\n`

const throwing = (name: string): unknown =>
  Object.defineProperty({ ...RECEIPT }, name, {
    enumerable: true,
    get: () => {
      throw new Error("read")
    }
  })

const revoked = (): unknown => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const hostile = (): ReadonlyArray<unknown> => {
  const own: Record<string, unknown> = { ...RECEIPT }
  own["self"] = own
  return [
    undefined,
    null,
    0,
    Number.NaN,
    1n,
    Symbol("receipt"),
    () => RECEIPT,
    "",
    "{",
    "[".repeat(100_000),
    "\ud800",
    [],
    [RECEIPT],
    new Map(Object.entries(RECEIPT)),
    new Date(Number.NaN),
    Object.create(null),
    own,
    revoked(),
    { receipt: revoked() },
    new Proxy(RECEIPT, {
      get: () => {
        throw new Error("read")
      },
      ownKeys: () => {
        throw new Error("listed")
      }
    }),
    ...SIGNED_FIELDS.map(throwing),
    throwing("signature"),
    throwing("receipt"),
    { ...RECEIPT, cost_microcents: Number.POSITIVE_INFINITY },
    { ...RECEIPT, cost_microcents: Number.MAX_VALUE },
    { ...RECEIPT, cost_microcents: 5n },
    { ...RECEIPT, tool_id: Symbol("t1") },
    { ...RECEIPT, tool_id: Object("t1") },
    { ...RECEIPT, status: "\ud800" },
    { ...RECEIPT, status: "x".repeat(2_000_000) },
    { ...RECEIPT, signature: { toString: () => RECEIPT.signature } },
    { receipt: null },
    { receipt: RECEIPT, receipt_id: 7 }
  ]
}

describe("Receipts.verify", () => {
  it("returns a verdict for any value", () => {
    for (const value of hostile()) {
      const verdict = verdictBy(value, () => false)
      assert.isFalse(verdict.valid)
      assert.isString(verdict.reason)
      assert.isString(verdict.canonical)
    }
  })

  it("counts an unreadable field as missing", () => {
    for (const name of SIGNED_FIELDS) {
      assert.deepStrictEqual(verdictBy(throwing(name), () => true).missing, [name])
    }
    assert.deepStrictEqual(verdictBy(revoked(), () => true).missing, [...SIGNED_FIELDS, "signature"])
  })

  it("checks what it read: a field that changes between two reads is read once", () => {
    let reads = 0
    const changing = { ...RECEIPT }
    Object.defineProperty(changing, "cost_microcents", { enumerable: true, get: () => (reads++ === 0 ? 50_000 : 1) })
    const seen: Array<string> = []
    verdictBy(changing, (canonical) => seen.push(canonical) > 0)
    assert.strictEqual(reads, 1)
    assert.include(seen[0], "|50000|")
  })
})

describe("verifyReceipt offline", () => {
  const reasonOf = async (...args: ReadonlyArray<unknown>): Promise<string> => {
    const [receipt, proof, vkey, options] = args
    const verdict = await verifyOffline(receipt, proof as string, vkey as string, options as { checkpoint: string })
    assert.isFalse(verdict.valid)
    return verdict.reason
  }

  it("returns a verdict for any receipt, proof, key and options", async () => {
    const values = hostile()
    for (const value of values) {
      assert.isString(await reasonOf(value, PROOF, VKEY))
      assert.isString(await reasonOf(RECEIPT, value, VKEY))
      assert.isString(await reasonOf(RECEIPT, PROOF, value))
      assert.isString(await reasonOf(RECEIPT, PROOF, VKEY, value))
      assert.isString(await reasonOf(RECEIPT, PROOF, VKEY, { witnesses: value, checkpoint: value }))
      assert.isString(await reasonOf(RECEIPT, PROOF, VKEY, { witnesses: [value] }))
    }
  })

  it("names what is wrong", async () => {
    assert.strictEqual(await reasonOf(revoked(), PROOF, VKEY), "bad_receipt")
    assert.strictEqual(await reasonOf(throwing("status"), PROOF, VKEY), "bad_receipt")
    assert.strictEqual(await reasonOf({ ...RECEIPT, receipt_id: "rcpt_0123456789abcde" }, PROOF, VKEY), "bad_receipt")
    assert.strictEqual(await reasonOf(RECEIPT, 7, VKEY), "bad_proof")
    assert.strictEqual(await reasonOf(RECEIPT, PROOF, 7), "bad_key")
    assert.strictEqual(await reasonOf(RECEIPT, PROOF, VKEY), "bad_signature")
    assert.strictEqual(
      await reasonOf({ ...RECEIPT, receipt_id: "rcpt_0123456789abcdef" }, PROOF, VKEY),
      "bad_signature",
      "an id of 16 digits is a receipt's id"
    )
  })

  it("returns a verdict for texts that are far too long", async () => {
    const long = "A".repeat(4_000_000)
    assert.strictEqual(await reasonOf(RECEIPT, `c2sp.org/tlog-proof@v1\nextra ${long}\nindex 0\n\n`, VKEY), "bad_proof")
    assert.strictEqual(await reasonOf(RECEIPT, PROOF, `sum.golang.org+033de0ae+${long}`), "bad_key")
    assert.strictEqual(await reasonOf(RECEIPT, `${PROOF}— x ${"A".repeat(400_000)}\n`, VKEY), "bad_proof")
  })
})
