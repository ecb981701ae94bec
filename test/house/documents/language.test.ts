/**
 * Production text and the titles and comments of tests use the words of docs/glossary.md.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  bannedPhrases,
  isAllowed,
  phrasesIn,
  productionFiles,
  readProjectFile,
  testFiles,
  titlesAndComments
} from "../../support/house/BannedPhrases.ts"

const banned = bannedPhrases(readProjectFile("docs/glossary.md"))

const violations = (files: ReadonlyArray<string>, textOf: (source: string) => string = (source) => source) =>
  files.flatMap((file) => {
    const found = phrasesIn(textOf(readProjectFile(file)), banned).filter((phrase) => !isAllowed(file, phrase))
    return found.length === 0 ? [] : [{ file, found }]
  })

describe("the language", () => {
  it("has no phrase that the glossary bans", () => {
    assert.isAbove(banned.length, 40)
    assert.deepStrictEqual(violations(productionFiles()), [])
  })

  it("holds for titles and comments of tests", () => {
    assert.isAbove(testFiles().length, 300)
    assert.deepStrictEqual(violations(testFiles(), titlesAndComments), [])
  })

  it.each([
    ["/**\n * Closed to whoever\n * has no key.\n */", ["whoever"]],
    ['"The gateway stands " +\n    "between agents and tools"', ["stands between"]],
    ["-- money held by calls\n-- under way", ["held by calls under way", "under way"]],
    ["const fate = Fate.of(call)", ["fate"]],
    ["No Faith Needed.", ["no faith needed"]],
    ["we recommend a comment", []]
  ])("is checked: %j", (text, found) => {
    assert.deepStrictEqual(phrasesIn(text, banned), found)
  })

  it.each([
    ['it.effect("tells nobody", () =>', ["nobody"]],
    ["describe(`Over ${name}, nobody`, () =>", ["nobody"]],
    ['it.layer(make({ a: "b" }), LIVE)("for nobody", (it) =>', ["nobody"]],
    ['it.each([["a"]])("is for nobody: %s", (a) =>', ["nobody"]],
    ["/** Asks\n * nobody. */", ["nobody"]],
    ['send("nobody") // the account nobody', ["nobody"]],
    ['assert.include(text, "nobody")', []],
    ['get("http://nobody")', []]
  ])("is checked in a test: %j", (source, found) => {
    assert.deepStrictEqual(phrasesIn(titlesAndComments(source), banned), found)
  })
})
