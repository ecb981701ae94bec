/**
 * Which patterns are shown to run in linear time: those that MCP servers publish, and none that V8's engine takes longer for.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as zod from "zod/v4/core"
import { linearPattern, PatternFault } from "../../../adapters/jsonschema/LinearPattern.ts"

const isLinear = (pattern: string): boolean => {
  try {
    linearPattern(pattern)
    return true
  } catch (cause) {
    if (cause instanceof PatternFault) return false
    throw cause
  }
}

const fault = (pattern: string): string => {
  try {
    linearPattern(pattern)
  } catch (cause) {
    return (cause as Error).message
  }
  return ""
}

const ORDINARY = [
  "^[a-z]+$",
  "^[A-Za-z_][A-Za-z0-9_]*$",
  "^[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+$",
  "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2}))?$",
  "^https?://[^\\s/$.?#].[^\\s]*$",
  "^https?://",
  "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
  "^#?([0-9a-f]{3}|[0-9a-f]{6})$",
  "^((25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.|$)){4}$",
  "^(?:red|green|blue)?$",
  "(^red$)|(^green$)",
  `^(?:${Array.from({ length: 100 }, (_, n) => `word${n}`).join("|")})$`,
  "^\\s*\\S+(\\s+\\S+)*\\s*$",
  "^[\\s\\S]*$",
  "^.{1,2000}$",
  "^(?=.*[a-z])(?=.*\\d)(?!.*\\s).{8,}$",
  "^(?:(?!--).)*$",
  "^(?<year>\\d{4})(?<rest>-.*)?$",
  "^[\\]\\-\\\\^[]+$",
  "^\\p{Lu}\\p{Ll}+$",
  "^[\\p{L} .'-]+$",
  "^(\\/[^/]*)+$",
  "^\\w+(\\s*,\\s*\\w+)*$",
  "^s3://[^/]+/.*$",
  "^arn:aws:[a-z0-9-]+:[a-z0-9-]*:\\d{12}:.+$",
  "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$",
  ".*\\.pdf$",
  ".*\\S.*",
  "\\S+@\\S+",
  "\\bfoo\\b",
  "[A-Z]{3,}",
  "[A-Z]+-[0-9]+",
  // docs/mcp.md
  "^a+$",
  "^[^@]+@[^@.]+(\\.[^@.]+)+$",
  "^\\w+(\\s\\w+)*\\s?$",
  "^[ab]?a+c",
  "[]",
  ""
]

const HOSTILE = [
  "^(a+)+$",
  "(a|a)*b",
  "^(a|ab?)*$",
  "^(a*)*$",
  "^(a?){60}a{60}$",
  "(.*)*x",
  "a*a*b",
  "^a*a*b",
  "[ab]?a+c",
  "^(\\w+\\s?)*$",
  "(x+x+)+y",
  "^[^@]+@[^@]+\\.[^@]+$",
  "^(\\+\\d{1,3}[ -]?)?(\\(\\d+\\)|\\d+)([ -]?\\d+)*$",
  "^(?=(a|a)*$)",
  "^(?:(?=.*x)a)*$",
  `^${"(?:|)".repeat(50)}a$`,
  "(?:a?){1000000000}b",
  "a".repeat(2_001)
]

describe("linearPattern", () => {
  it("accepts what MCP servers publish", () => {
    for (const pattern of ORDINARY) assert.isTrue(isLinear(pattern), `${pattern}: ${fault(pattern)}`)
    const ofZod = Object.entries(zod.regexes).flatMap(([name, made]) =>
      // Not valid with the `u` flag of JSON Schema.
      made instanceof RegExp && name !== "rfc5322Email" ? [[name, made.source] as const] : []
    )
    assert.isAbove(ofZod.length, 40)
    const times = { precision: null, offset: true, local: true }
    const made = [zod.regexes.uuid(), zod.regexes.datetime(times), zod.regexes.time({ precision: null })]
    for (const [name, pattern] of [...ofZod, ...made.map(({ source }) => ["made", source] as const)]) {
      assert.isTrue(isLinear(pattern), `${name} ${pattern}: ${fault(pattern)}`)
    }
  })

  it("rejects what takes more than linear time, or what it cannot follow, and says what to change", () => {
    for (const pattern of HOSTILE) assert.isFalse(isLinear(pattern), pattern)
    for (const [pattern, hint] of [
      ["^(a+)+$", /let each repeated part end at a character that the part itself cannot contain/u],
      ["(a)\\1", /backreference/u],
      ["(?<n>a)\\k<n>", /backreference/u],
      ["(?<=a)b", /looks behind/u],
      ["(?<!a)b", /looks behind/u],
      ["(?i:a)", /flags/u]
    ] as const) {
      assert.match(fault(pattern), hint, pattern)
    }
  })

  it("tells classes and escapes apart as the engine does", () => {
    const disjoint = (one: string, other: string) => isLinear(`^(?:${one}+${other}+)+$`)
    for (const [one, other] of [
      ["\\d", "\\D"],
      ["\\w", "\\W"],
      ["\\s", "\\S"],
      ["[a-f]", "[^a-f]"],
      ["\\x41", "\\u0042"],
      ["\\u{1f600}", "\\ud83d\\ude01"],
      ["\\cA", "\\0"],
      ["\\n", "."],
      ["[\\b]", "\\t"],
      ["[\\w-]", "[^\\w-]"],
      ["\u{1f680}", "[\u{1f600}-\u{1f64f}]"],
      ["\\]", "[^\\]]"]
    ] as const) {
      assert.isTrue(disjoint(one, other), `${one} ${other}`)
    }
    for (const [one, other] of [
      ["\\d", "\\w"],
      ["\\x41", "\\u0041"],
      ["\\u{1f600}", "\\ud83d\\ude00"],
      ["\\cA", "\\x01"],
      ["\\s", "\u3000"],
      ["\\p{L}", "\\P{L}"],
      ["[+-]", "-"],
      [".", "\\x0b"]
    ] as const) {
      assert.isFalse(disjoint(one, other), `${one} ${other}`)
    }
  })

  const Atom = Schema.Literals([
    ..."ab.",
    "[ab]",
    "[^a]",
    "\\w",
    "(a|b)",
    "(?:ab|a)",
    "(a*|b)",
    "(?:ba*)",
    "(?=a)",
    "(?!b*a)",
    "^",
    "$",
    "\\b"
  ])
  const Part = Schema.Tuple([Atom, Schema.Literals(["", "", "*", "+", "?", "{2}", "{1,3}", "*?", "{2,}"])])
  const Parts = Schema.Array(Part).check(Schema.isMaxLength(6))
  const written = (parts: typeof Parts.Type): string =>
    parts.map(([atom, times]) => (/^(?:\^|\$|\\b|\(\?[=!].*)$/u.test(atom) ? atom : atom + times)).join("")

  it.effect.prop(
    "keeps the meaning of a pattern",
    {
      parts: Parts,
      texts: Schema.Array(Schema.Array(Schema.Literals([..."ab-"])).check(Schema.isMaxLength(8))).check(
        Schema.isMaxLength(8)
      )
    },
    ({ parts, texts }) =>
      Effect.sync(() => {
        const pattern = written(parts)
        if (!isLinear(pattern)) return
        const [before, after] = [new RegExp(pattern, "u"), new RegExp(linearPattern(pattern).source, "u")]
        for (const text of texts.map((chars) => chars.join(""))) {
          assert.strictEqual(after.test(text), before.test(text), `${pattern} on ${text}`)
        }
      }),
    { arbitrary: { runs: 1_000 } }
  )

  it.effect.prop(
    "accepts none that takes long",
    {
      parts: Parts,
      pump: Schema.Array(Schema.Literals([..."ab-"])).check(Schema.isMinLength(1), Schema.isMaxLength(3))
    },
    ({ parts, pump }) =>
      Effect.sync(() => {
        const pattern = written(parts)
        if (!isLinear(pattern)) return
        const engine = new RegExp(linearPattern(pattern).source, "u")
        const before = process.threadCpuUsage()
        for (const end of ["", "-", "b", "\n"]) engine.test(pump.join("").repeat(50_000) + end)
        const { system, user } = process.threadCpuUsage(before)
        // In quadratic time it takes more than 2 seconds.
        assert.isBelow((system + user) / 1_000, 1_000, `${pattern} on ${pump.join("")}`)
      }),
    { arbitrary: { runs: 300 } }
  )

  it("is found out in bounded time", () => {
    const manyKinds = String.fromCharCode(...Array.from({ length: 900 }, (_, n) => 0x4e00 + 2 * n))
    for (const pattern of [
      ...HOSTILE,
      `^${"(a|b|ab)?".repeat(100)}c$`,
      `^(?:${"[a-f]{1,9}[d-i]{1,9}".repeat(8)})+$`,
      "^(?:a?b?){490}$",
      `^${"a?".repeat(900)}$`,
      `^[${manyKinds}]{130}[^${manyKinds}]{130}$`
    ]) {
      const before = process.threadCpuUsage()
      fault(pattern)
      const { system, user } = process.threadCpuUsage(before)
      assert.isBelow((system + user) / 1_000, 1_000, pattern.slice(0, 100))
    }
  })
})
