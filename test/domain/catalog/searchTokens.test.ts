import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { lexemesOf, prefixQueryOf } from "../../../adapters/sql/catalog/PostgresCatalogStore.ts"
import {
  matches,
  SEARCH_TOKEN_CHARS_MAX,
  SEARCH_TOKENS_PER_QUERY_MAX,
  SEARCH_TOKENS_PER_TOOL_MAX,
  tokensOfQuery,
  tokensOfTool
} from "../../../domain/catalog/SearchTokens.ts"

const tool = { toolName: "get_forecast-v2", displayName: "Météo", category: "Weather", description: "It's 24/7!" }

describe("SearchTokens", () => {
  it("are words without case, accents or punctuation, each once", () => {
    assert.deepStrictEqual(tokensOfTool(tool, "Weather GmbH & Co"), [
      "get",
      "forecast",
      "v2",
      "meteo",
      "weather",
      "gmbh",
      "co",
      "it",
      "s",
      "24",
      "7"
    ])
  })

  it("support any script", () => {
    assert.deepStrictEqual(tokensOfQuery("東京 天気 Ωmega ﬁne Straße"), ["東京", "天気", "ωmega", "fine", "straße"])
  })

  it("match a tool when every word of the query is a prefix of one of its words", () => {
    const tokens = tokensOfTool(tool, "Weather GmbH")
    for (const q of ["", "fore", "METEO", "weath for", "24", "get_forecast-v2", "!?"]) {
      assert.isTrue(matches(tokens, tokensOfQuery(q)), q)
    }
    for (const q of ["ecast", "weather rain", "forecasts", "v23"]) {
      assert.isFalse(matches(tokens, tokensOfQuery(q)), q)
    }
  })

  it("are bounded: in number for a tool and a query, and in length", () => {
    const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(" ")
    assert.lengthOf(tokensOfTool({ ...tool, description: words(5_000) }, "p"), SEARCH_TOKENS_PER_TOOL_MAX)
    assert.lengthOf(tokensOfQuery(words(5_000)), SEARCH_TOKENS_PER_QUERY_MAX)
    const [long] = tokensOfQuery("\u{20000}".repeat(100))
    assert.lengthOf([...long!], SEARCH_TOKEN_CHARS_MAX)
  })

  it("match a truncated long word by the whole of it", () => {
    const word = "x".repeat(100)
    assert.isTrue(matches(tokensOfTool({ ...tool, description: word }, "p"), tokensOfQuery(word)))
  })
})

describe("lexemes of search tokens", () => {
  it("add the first one, two and three letters of every word, marked", () => {
    assert.deepStrictEqual(lexemesOf(["data", "da", "\u{1F600}é"]), [
      "data",
      "da",
      "\u{1F600}é",
      "^d",
      "^da",
      "^dat",
      "^\u{1F600}",
      "^\u{1F600}é"
    ])
  })

  it("query short prefixes by their mark and longer ones as prefixes", () => {
    assert.strictEqual(prefixQueryOf(["d", "dat", "data"]), "'^d' & '^dat' & 'data':*")
  })

  it.prop("never let a token out of its quotes", { token: Schema.String }, ({ token }) => {
    const inside = prefixQueryOf([token])
      .replace(/^'/u, "")
      .replace(/'(:\*)?$/u, "")
    assert.strictEqual(inside.replace(/''|\\\\/gu, "").replace(/[^'\\]/gu, ""), "")
  })
})
