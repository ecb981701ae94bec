/**
 * Rows as values of the domain.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { rowReader } from "../../../adapters/sql/shared/Rows.ts"

interface Entry {
  readonly id: string
  readonly amountCents: number
  readonly failure: string | undefined
  readonly paidAt: DateTime.Utc | undefined
}

const toEntry = rowReader<Entry>({ entry_id: "id" }, { amount_cents: Number })

describe("rowReader", () => {
  it("reads names, numbers, instants and nulls", () => {
    const paidAt = new Date("2026-11-23T01:02:03.004Z")
    assert.deepStrictEqual(toEntry({ entry_id: "e1", amount_cents: 7n, failure: null, paid_at: paidAt }), {
      id: "e1",
      amountCents: 7,
      failure: undefined,
      paidAt: DateTime.makeUnsafe("2026-11-23T01:02:03.004Z")
    })
  })

  it("does not convert null", () => {
    const toLevel = rowReader<{ readonly level: number | undefined }>({}, { level: Number })
    assert.deepStrictEqual(toLevel({ level: null }), { level: undefined })
  })
})
