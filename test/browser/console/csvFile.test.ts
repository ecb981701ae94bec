/**
 * CSV files of the consoles: other accounts wrote some of their texts, and a spreadsheet must run none.
 */
import { assert, describe, it } from "@effect/vitest"
import { csvOf } from "../../../adapters/site/console/ListView.browser.ts"

const columns = [
  { name: "Claim", cell: () => "", csv: (text: string) => text },
  { name: "Shown only", cell: () => "" },
  { name: "Amount", cell: () => "", csv: () => -5 }
]

const cellOf = (text: string): string => {
  const file = csvOf(columns, [text])
  assert.isTrue(file.startsWith("Claim,Amount\r\n") && file.endsWith(",-5\r\n"), file)
  return file.slice("Claim,Amount\r\n".length, -",-5\r\n".length)
}

describe("A CSV file", () => {
  it("has a text as it is, quoted where it must be", () => {
    for (const text of ["plain", "a-b", "1+1=2", "me@example.org", "", "é"]) assert.strictEqual(cellOf(text), text)
    assert.strictEqual(cellOf(`one, "two"`), `"one, ""two"""`)
    assert.strictEqual(cellOf("one\ntwo"), `"one\ntwo"`)
  })

  it("begins no cell with a formula, whichever separator the reader expects", () => {
    for (const formula of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\uff1d1+1", `"=1+1"`]) {
      for (const before of ["", "x;", "x\t", "x\n", "x\r\n", ";;", `";`]) {
        const file = csvOf(columns, [before + formula])
        // As a reader that takes any of the separators, and no quotes.
        const cells = file.split(/[,;\t\r\n]/u).filter((cell) => cell !== "-5")
        const run = cells.filter((cell) => /^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(cell))
        assert.deepStrictEqual(run, [], JSON.stringify(file))
      }
    }
  })
})
