import { assert, describe, it } from "@effect/vitest"
import { escapeHidden as inBrowser, parseShown } from "../../../adapters/site/kit/HiddenText.browser.ts"
import { escapeHidden, lineFault, textFault, withNewlines } from "../../../domain/shared/PlainText.ts"

const HIDDEN = [
  ..."\0\u0007\r\u001b\u007f\u0085\u009b\u2028\u2029", // control
  ..."\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u206a", // bidirectional
  ..."\u00ad\u034f\u115f\u180e\u200b\u2060\u2061\u2064\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9", // without width
  ..."\u{e0001}\u{e0041}\u{e0100}",
  "\ud800"
]
const IN_DESCRIPTIONS = [..."\n\t\u200c\u200d"]

describe("plain text", () => {
  it("rejects control, bidirectional and zero-width characters, and names the character", () => {
    for (const char of HIDDEN) {
      const code = `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
      assert.include(lineFault(`Ac${char}me`), code)
      assert.include(textFault(`Ac${char}me`), code)
      assert.strictEqual(escapeHidden(`Ac${char}me`), `Ac[${code}]me`)
    }
  })

  it("keeps newline, tab and joiners in descriptions, not in names", () => {
    for (const char of IN_DESCRIPTIONS) {
      assert.isString(lineFault(`Ac${char}me`))
      assert.isUndefined(textFault(`Ac${char}me`))
    }
    assert.strictEqual(withNewlines("a\r\nb\rc\n"), "a\nb\nc\n")
  })

  it("accepts the letters, marks, signs and emoji of every script", () => {
    for (const text of [
      "Ünï 日本 |<b>'\"\\",
      "עברית العربية हिन्दी ไทย",
      "\u0600 ۝",
      "❤️ 1️⃣ 👍🏽 🇺🇳",
      "a\u00a0b\u3000c",
      "e\u0301"
    ]) {
      assert.isUndefined(lineFault(text))
      assert.isUndefined(textFault(text))
      assert.strictEqual(escapeHidden(text), text)
    }
  })

  it("is shown the same in a browser", () => {
    for (let code = 0; code < 0xe_0200; code += code < 0x1_0000 || code >= 0xe_0000 ? 1 : 97) {
      const char = String.fromCodePoint(code)
      for (const text of [char, `A${char}b`, `م${char}م`, `❤${char}`, `1${char}\u20e3`, `${char}\n`]) {
        assert.strictEqual(inBrowser(text), escapeHidden(text))
      }
    }
    assert.deepStrictEqual(parseShown('{"a":["b\\u202e",1]}'), { a: ["b[U+202E]", 1] })
  })

  it("shows a joiner that joins nothing, and keeps one that joins", () => {
    assert.strictEqual(escapeHidden("\u200dAc\u200dme \u0410\u200c"), "[U+200D]Ac[U+200D]me \u0410[U+200C]")
    for (const text of ["👩\u200d🚀", "❤️\u200d🔥", "می\u200cخواهم", "क्\u200dष", "two\n\tlines"]) {
      assert.strictEqual(escapeHidden(text), text)
    }
  })
})
