/**
 * Secrets and their digests are compared in constant time: by isSameText or timingSafeEqual, never by ===.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isSameText } from "../../domain/shared/Cryptography.ts"

const ROOT = join(import.meta.dirname, "../..")
const FOLDERS = ["domain", "adapters", "src"]

/** A name that ends in a word for a secret or its digest, on one side of a comparison. */
const SECRET = String.raw`[\w.?!()]*(?:[hH]ash|[tT]oken|[sS]ecret|[sS]ignature|[pP]assword|[mM]ac)\b[!)]*`
const COMPARED = new RegExp(`${SECRET} [!=]== (?!undefined|null|"")|[!=]== ${SECRET}(?!\\()`, "u")

/** These comparisons authenticate no caller: a request's digest, a receipt with its copy in the same store. */
const HARMLESS = [
  "!== requestHash",
  "!== idempotency.requestHash",
  "closedBy === receipt.signature",
  "typeof token ==="
]

const comparisons = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => COMPARED.test(line) && !HARMLESS.some((one) => line.includes(one)))
    .map((line) => line.trim())

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name))
)

describe("comparisons of secrets", () => {
  it("never use === and !==", () => {
    assert.isAbove(sources.length, 300)
    const found = sources.flatMap((file) =>
      comparisons(readFileSync(join(ROOT, file), "utf8")).map((line) => `${file}: ${line}`)
    )
    assert.deepStrictEqual(found, [])
  })

  it("are detected", () => {
    for (const line of [
      "if (hash === operatorHash) return operator",
      "if (current?.tokenHash !== hash) return false",
      "return given.signature === expected",
      "if (sha256Hex(one) === proof.tokenHash) {",
      "const ok = header !== Redacted.value(config.secret)"
    ]) {
      assert.lengthOf(comparisons(line), 1, line)
    }
    assert.deepStrictEqual(comparisons("if (token === undefined || hash !== undefined) return"), [])
  })

  it.prop("have the same result as ===", [Schema.String, Schema.String], ([one, other]) => {
    assert.isTrue(isSameText(one, one))
    assert.strictEqual(isSameText(one, other), one === other)
    assert.isFalse(isSameText(one, `${one}x`))
    assert.isFalse(isSameText(`a${one}`, `b${one}`))
    assert.isFalse(isSameText(`${one}a`, `${one}b`))
  })
})
