/**
 * A pattern means the same on either engine, and the linear one is never slow.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { RE2Set } from "re2js"
import { engineOf, LINEAR_ENGINE_BYTES } from "../../adapters/jsonschema/PatternEngine.ts"
import { re2Syntax } from "../../adapters/jsonschema/Re2Syntax.ts"

/** Whatever engine `engineOf` would choose. */
const onRe2 = (pattern: string) => {
  const syntax = re2Syntax(pattern)
  if (syntax === undefined) return undefined
  const set = new RE2Set(RE2Set.UNANCHORED, 0, LINEAR_ENGINE_BYTES)
  set.add(syntax)
  return (text: string) => set.match(text).length > 0
}

const ORDINARY: ReadonlyArray<string> = [
  "^[a-z]+$",
  "^[^@]+@[^@]+\\.[^@]+$",
  "^[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+$",
  "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2}))?$",
  "^https?://[^\\s/$.?#].[^\\s]*$",
  "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
  "^(\\+\\d{1,3}[ -]?)?(\\(\\d+\\)|\\d+)([ -]?\\d+)*$",
  "^#?([0-9a-f]{3}|[0-9a-f]{6})$",
  "^((25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.|$)){4}$",
  "^(?:red|green|blue)?$",
  "^\\s*\\S+(\\s+\\S+)*\\s*$",
  "^[\\s\\S]*$",
  "^[^]*$",
  "[]",
  "^.{0,10}$",
  "a.c",
  "\\bfoo\\b",
  "\\Bo\\B",
  "^(?<year>\\d{4})(?<rest>-.*)?$",
  "^[\\]\\-\\\\^[]+$",
  "^[a^&~-]+$",
  "^\\u0041\\x42\\u{43}\\cA?$",
  "\\ud83d\\ude00|\u{1f680}",
  "^[\\u{1f600}-\\u{1f64f}]+$",
  "^\\p{Lu}\\p{Ll}+(\\P{L}+|$)",
  "^[\\d\\D]{3}[\\w\\W]?[^\\W\\d_]*$",
  "^[\\b\\t\\0]?$",
  "^(a|a)*$",
  "^(a+)+b?$",
  "(x+x+)+y",
  "^(\\/[^/]*)+$",
  "\\$\\{[^}]*\\}",
  "^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$",
  "",
  "|a",
  "^$"
]

const TEXTS: ReadonlyArray<string> = [
  "",
  "a",
  "abc",
  "a\nc",
  "a\r",
  "a\u2028c",
  "abc\n",
  "aaaaaaaaaaaaaab",
  "xxxxy",
  "foo",
  "a foo b",
  "xfoox",
  "John@example.org",
  "a.b+c@d-e.example",
  "2026-11-22",
  "2026-11-22T10:00:00.5Z",
  "https://example.org/a?b#c",
  "01234567-89ab-cdef-0123-456789ABCDEF",
  "+49 (30) 123-456",
  "#fff",
  "#12345g",
  "127.0.0.1",
  "300.1.1.1",
  "green",
  "\u00a0\ufeff\u3000 x",
  "\u000b\f",
  "]-\\^[",
  "a^&~-",
  "ABC\u0001",
  "\u{1f600}",
  "\u{1f680}\u{1f600}",
  "\ud83d",
  "x\ude00y",
  "Ärger über",
  "Zoé 1",
  "\b",
  "\0",
  "/a//b",
  "${x}",
  "sub.example.com",
  "K\u212a",
  "ſ"
]

describe("a pattern", () => {
  it("means the same on RE2 and V8, for ordinary patterns and texts", () => {
    for (const pattern of ORDINARY) {
      const native = new RegExp(pattern, "u")
      const linear = onRe2(pattern)
      assert.isDefined(linear, pattern)
      for (const text of TEXTS) {
        assert.strictEqual(linear!(text), native.test(text), `${pattern} on ${JSON.stringify(text)}`)
      }
    }
  })

  const Atom = Schema.Literals([
    ..."abc.-_/",
    "\\.",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "[ab]",
    "[^a]",
    "[a-c_]",
    "[^\\s]",
    "[\\w-]",
    "(a|b)",
    "(?:ab|a)",
    "(a*|b)",
    "\\b",
    "^",
    "$",
    "\\u{1f600}"
  ])
  const Part = Schema.Tuple([Atom, Schema.Literals(["", "", "*", "+", "?", "{2}", "{1,3}", "*?"])])
  const Text = Schema.Array(Schema.Literals([..."abc.-_/ 1é", "\n", "\u2028", "\u00a0", "\u{1f600}"])).check(
    Schema.isMaxLength(12)
  )

  it.effect.prop(
    "means the same on RE2 and V8, for generated patterns",
    { parts: Schema.Array(Part).check(Schema.isMaxLength(6)), texts: Schema.Array(Text).check(Schema.isMaxLength(8)) },
    ({ parts, texts }) =>
      Effect.sync(() => {
        const pattern = parts.map(([atom, times]) => (/^(?:\^|\$|\\b)$/u.test(atom) ? atom : atom + times)).join("")
        const native = new RegExp(pattern, "u")
        const linear = onRe2(pattern)!
        for (const text of texts.map((pieces) => pieces.join(""))) {
          assert.strictEqual(linear(text), native.test(text), `${pattern} on ${JSON.stringify(text)}`)
        }
      }),
    { arbitrary: { runs: 1_000 } }
  )

  it("stays on V8 where its form bounds the work, and runs on RE2 where it does not", () => {
    for (const pattern of ["^[a-z]+$", "^\\d{4}-\\d{2}-\\d{2}$", "^[A-Za-z0-9_-]{1,64}$", "^(?:red|green)$", "x"]) {
      assert.strictEqual(engineOf(pattern).kind, "native", pattern)
    }
    for (const pattern of ["^(a|a)*$", "(a+)+$", "(.*)*x", "a*a*a*a*b", "^(\\w+\\s?)*$", "^(a?){60}a{60}$"]) {
      const { cost, kind } = engineOf(pattern)
      assert.strictEqual(kind, "linear", pattern)
      assert.isTrue(cost.degree === 1 && Number.isFinite(cost.factor), pattern)
    }
  })

  it("that RE2 cannot express stays on V8, with a cost that limits it", () => {
    for (const pattern of [
      "^(?=(a|a)*$)",
      "(?!(a+)+b)",
      "(?<=a)b",
      "(?<!a)b",
      "(a)\\1",
      "(?<n>a+)+\\k<n>",
      "((a|b){1001})+",
      "(?i:(a|a)*)b",
      "(\\ud800|a)*b",
      "(\\p{Script=Greek}|a)*b"
    ]) {
      const { cost, kind } = engineOf(pattern)
      assert.strictEqual(kind, "native", pattern)
      assert.strictEqual(cost.factor, Infinity, pattern)
    }
  })

  it("that is not a regular expression is rejected", () => {
    for (const pattern of ["(", "[", "a{2,1}", "\\q", "*", "(?<n>a)(?<n>b)"]) {
      assert.throws(() => engineOf(pattern), SyntaxError)
    }
  })

  it("stays fast when it is hostile: ten times the text is not a thousand times the work", () => {
    const text = `${"a".repeat(20_000)}!`
    for (const pattern of ["^(a|a)*$", "^(a+)+$", "(a|a)*b", "^(a|ab?)*$", "(.*)*x", "a*a*a*a*a*b"]) {
      const { test } = engineOf(pattern)
      const before = process.threadCpuUsage()
      assert.strictEqual(test(text), pattern === "(.*)*x" && text.includes("x"), pattern)
      const { system, user } = process.threadCpuUsage(before)
      // By backtracking it would never finish.
      assert.isBelow((system + user) / 1_000, 2_000, pattern)
    }
  })
})
