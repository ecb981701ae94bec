/**
 * Production text uses the words of docs/glossary.md.
 */
import { assert, describe, it } from "@effect/vitest"
import {
  bannedPhrases,
  isAllowed,
  phrasesIn,
  productionFiles,
  readProjectFile
} from "../support/house/BannedPhrases.ts"

const banned = bannedPhrases(readProjectFile("docs/glossary.md"))

const violations = productionFiles().flatMap((file) => {
  const found = phrasesIn(readProjectFile(file), banned).filter((phrase) => !isAllowed(file, phrase))
  return found.length === 0 ? [] : [{ file, found }]
})

describe("the language of production text", () => {
  it("has no phrase that the glossary bans", () => {
    assert.isAbove(banned.length, 40)
    assert.deepStrictEqual(violations, [])
  })

  it.each([
    ["/**\n * Closed to whoever\n * has no key.\n */", ["whoever"]],
    ['"The gateway stands " +\n    "between agents and tools"', ["stands between"]],
    ["-- money held by calls\n-- under way", ["held by calls under way"]],
    ["const fate = Fate.of(call)", ["fate"]],
    ["No Faith Needed.", ["no faith needed"]],
    ["we recommend a comment", []]
  ])("is checked: %j", (text, found) => {
    assert.deepStrictEqual(phrasesIn(text, banned), found)
  })
})
