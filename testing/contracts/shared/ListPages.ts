/**
 * Reads a whole list by its cursors, as a client does.
 */
import assert from "node:assert/strict"
import { Effect } from "effect"
import type { Page, PageRequest } from "../../../domain/shared/Page.ts"

const PAGES_MAX = 1_000

/** Every item, in pages of two, each of them once. */
export const everyItem = Effect.fnUntraced(function* <A extends { readonly id: string }, E, R>(
  list: (page: PageRequest) => Effect.Effect<Page<A>, E, R>
) {
  const found: Array<A> = []
  let after: PageRequest["after"]
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = yield* list({ limit: 2, offset: 0, after })
    assert.ok(page.items.length <= 2)
    found.push(...page.items)
    after = page.next
    if (after === undefined) {
      assert.equal(page.total, found.length)
      assert.equal(new Set(found.map(({ id }) => id)).size, found.length)
      return found
    }
  }
  throw new Error("The list has no end")
})

/** Cursors that no page returned: they must not fail. */
export const FORGED = ["", "x", "\0", "99999999999999", "2026-11-20T12:00:00.000Z"].flatMap((key) =>
  ["", "x", "\0", "00000000-0000-4000-8000-000000000000"].map((id) => ({ limit: 2, offset: 0, after: { key, id } }))
)
