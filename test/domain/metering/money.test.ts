import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import {
  formatDollars,
  formatPrice,
  fromCents,
  Microcents,
  MICROCENTS_MAX,
  MICROCENTS_PER_CENT,
  MicrocentsFromInt,
  parseDollars,
  toCents
} from "../../../domain/shared/Microcents.ts"

const decode = Schema.decodeUnknownResult(MicrocentsFromInt)

describe("Microcents", () => {
  it("parses dollars exactly, and rejects any other text", () => {
    const amounts = ["0", "1", "0.5", "$12.34", " 1,234.5 ", "0.000001", "999999999.999999", "0.10"]
    assert.deepStrictEqual(amounts.map(parseDollars).map(String), [
      "0",
      "1000000",
      "500000",
      "12340000",
      "1234500000",
      "1",
      "999999999999999",
      "100000"
    ])
    for (const text of ["", " ", "$", ".5", "1.", "-1", "1e3", "0.0000001", "1 000", "free", "1.2.3", "9".repeat(10)]) {
      assert.isUndefined(parseDollars(text), text)
    }
  })

  it.prop("a JSON integer is unchanged after encoding and decoding", { amount: Microcents }, ({ amount }) => {
    const wire = Schema.encodeSync(MicrocentsFromInt)(amount)
    assert.isTrue(Number.isSafeInteger(wire))
    assert.strictEqual(Schema.decodeSync(MicrocentsFromInt)(JSON.parse(JSON.stringify(wire)) as number), amount)
  })

  it("anything except a JSON integer from 0 to 2^53-1 is rejected", () => {
    const wrong = ["500", "", 150.5, -1, -0.5, 2 ** 53, 1e300, Infinity, NaN, null, undefined, true, [1], { n: 1 }, 5n]
    for (const input of wrong) assert.isTrue(Result.isFailure(decode(input)), String(input))
    for (const input of [0, 1, 150, Number.MAX_SAFE_INTEGER]) assert.isTrue(Result.isSuccess(decode(input)), `${input}`)
  })

  it("an amount beyond a JSON integer is never sent", () => {
    const tooLarge = (MICROCENTS_MAX + 1n) as Microcents
    assert.isTrue(Result.isFailure(Schema.encodeUnknownResult(MicrocentsFromInt)(tooLarge)))
  })

  it.prop("a price is written with all its digits", { amount: Microcents }, ({ amount }) => {
    const text = formatPrice(amount)
    if (amount === 0n) return assert.strictEqual(text, "Free")
    const [, dollars, fraction] = /^\$(\d{1,3}(?:,\d{3})*)\.(\d{2,6})$/u.exec(text)!
    assert.strictEqual(BigInt(dollars!.replaceAll(",", "") + fraction!.padEnd(6, "0")), amount)
    assert.isFalse(fraction!.length > 2 && fraction!.endsWith("0"))
  })

  it("writes prices for people", () => {
    const texts = [1n, 100n, 10_000n, 50_000n, 123_456n, 1_000_000n, 1_234_567_890_000n].map(formatPrice)
    assert.deepStrictEqual(texts, ["$0.000001", "$0.0001", "$0.01", "$0.05", "$0.123456", "$1.00", "$1,234,567.89"])
  })

  it("writes balances in whole cents, rounded toward zero", () => {
    const texts = [0n, 9_999n, 10_000n, 12_349_999n, 1_234_567_891_234n, -9_999n, -12_349_999n].map(formatDollars)
    assert.deepStrictEqual(texts, ["$0.00", "$0.00", "$0.01", "$12.34", "$1,234,567.89", "-$0.00", "-$12.34"])
    assert.deepStrictEqual([0n, 9_999n, 10_000n, 19_999n, -19_999n].map(toCents), [0, 0, 1, 1, -1])
  })

  it("a cent is ten thousand microcents, exactly, for any number of cents", () => {
    for (const cents of [0, 1, 99, 100_000, 90_000_000_000]) {
      assert.strictEqual(fromCents(cents), BigInt(cents) * MICROCENTS_PER_CENT)
      assert.strictEqual(toCents(fromCents(cents)), cents)
    }
  })
})
