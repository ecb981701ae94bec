/**
 * From text to a JSON value: what is rejected before validation.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { vi } from "vitest"
import { JsonObject } from "../../../adapters/http/contract/InputSchemas.ts"
import {
  JSON_DEPTH_MAX,
  parseJson,
  payloadDecoder,
  rejectRounded,
  storedBody
} from "../../../adapters/http/pipeline/Decoding.ts"
import { FAULTS_MAX } from "../../../adapters/http/pipeline/Failures.ts"

const isTaken = (text: string): boolean => Result.isSuccess(Effect.runSync(Effect.result(parseJson(text, storedBody))))

const tower = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

describe("a body", () => {
  it.each([
    ["1e309", "-1E+400", '{"a":[0.5,1e999]}', "9".repeat(310), `[1,-${"9".repeat(400)}.5]`, "1e0309"],
    ["1.5e308", "-1E-999", '{"a":1e5}', '{"1e999":"1e999"}', "9".repeat(300), `"${"9".repeat(400)}"`, '["\\"",1e3]']
  ])("contains no number beyond what JSON can represent: %#", (...texts) => {
    const infinite = texts.filter((text) => /Infinity/u.test(String(flat(JSON.parse(text)))))
    assert.deepStrictEqual(
      texts.filter((text) => !isTaken(text)),
      infinite
    )
    assert.include([0, texts.length], infinite.length)
  })

  it("contains no integer that would be rounded on its way to the provider; the error names each", () => {
    const faultsOf = (text: string) => {
      const read = Effect.runSync(Effect.result(rejectRounded(text)))
      return Result.isFailure(read) ? read.failure.faults : []
    }
    const faults = faultsOf('{"input":{"id":1234567890123456789,"n":[1,-9007199254740992]},"a":1}')
    assert.deepStrictEqual(
      faults.map(({ path }) => path),
      [
        ["input", "id"],
        ["input", "n", 1]
      ]
    )
    assert.include(faults[0]!.message, "1234567890123456789")
    const exact = ["9007199254740991", "-9007199254740991", '"1234567890123456789"', "0.12345678901234567", "1e20"]
    for (const text of exact) assert.deepStrictEqual(faultsOf(`[${text}]`), [], text)
  })

  it("is not parsed again to look for integers that would be rounded", () => {
    const parse = vi.spyOn(JSON, "parse")
    try {
      const text = `[1234567890123456,"1234567890123456789",-0.1234567890123456789,true${",0".repeat(100)}]`
      assert.isTrue(Result.isSuccess(Effect.runSync(Effect.result(rejectRounded(text)))))
      assert.strictEqual(parse.mock.calls.length, 0)
    } finally {
      parse.mockRestore()
    }
  })

  it("is read up to a maximum number of faults", () => {
    const read = Effect.runSync(Effect.result(parseJson(JSON.stringify(Array(1_000).fill("\0")), storedBody)))
    assert.isTrue(Result.isFailure(read) && "faults" in read.failure && read.failure.faults.length === FAULTS_MAX)
  })

  it("contains objects of any JSON, which are not read again after parsing", () => {
    const decode = payloadDecoder(Schema.Struct({ input: JsonObject }))
    const unread = new Proxy({}, { ownKeys: () => assert.fail("it is read") })
    assert.strictEqual(
      (Effect.runSync(decode({ input: unread })) as { readonly input: unknown }).input === unread,
      true
    )
    for (const other of [[], "a", null]) {
      const read = Effect.runSync(Effect.result(decode({ input: other })))
      assert.match(Result.isFailure(read) ? read.failure.faults[0]!.message : "", /^`input` must be an object; /u)
    }
  })

  it("is nested to its limit and no further; brackets in strings do not count", () => {
    assert.deepStrictEqual([isTaken(tower(JSON_DEPTH_MAX)), isTaken(tower(JSON_DEPTH_MAX + 1))], [true, false])
    assert.isTrue(isTaken(JSON.stringify([`"${tower(100)}\\`, "["])))
    assert.isFalse(isTaken(`["\\"",${tower(JSON_DEPTH_MAX)}]`))
  })
})

const flat = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? Object.values(value).map(flat) : value
