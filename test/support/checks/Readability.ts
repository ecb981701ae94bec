/**
 * Whether a page is readable in light and dark, wide and at the width of a phone. One page stays open while its
 * window and its color scheme change.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { overflows, pictured, seriousFindings } from "../market/Browser.ts"

export interface Look {
  readonly scheme: "light" | "dark"
  readonly width: number
  /** All other rules were checked at the same width. */
  readonly colorsOnly?: boolean
}

const WIDE = 1_280
const PHONE = 360
/** Half a screen, or a tablet: nothing but the width is checked. */
const BETWEEN = [1_130, 850]

export const WIDE_AND_LIGHT: Look = { scheme: "light", width: WIDE }
export const NARROW_AND_DARK: Look = { scheme: "dark", width: PHONE }
const EVERY_LOOK: ReadonlyArray<Look> = [
  WIDE_AND_LIGHT,
  { scheme: "dark", width: WIDE, colorsOnly: true },
  NARROW_AND_DARK,
  { scheme: "light", width: PHONE, colorsOnly: true }
]

export const isReadable = Effect.fnUntraced(function* (
  page: Page,
  name: string,
  looks: ReadonlyArray<Look> = EVERY_LOOK
) {
  for (const { colorsOnly, scheme, width } of looks) {
    yield* Effect.promise(async () => {
      await page.emulateMedia({ colorScheme: scheme })
      await page.setViewportSize({ width, height: 900 })
      assert.strictEqual(await page.evaluate(`matchMedia("(prefers-color-scheme: ${scheme})").matches`), true)
      // Elements that follow the window, such as charts, are redrawn with the next frames.
      await page.evaluate("new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))")
    })
    const look = `${name} ${scheme} ${width}`
    assert.isFalse(yield* overflows(page), look)
    yield* pictured(page, look.replaceAll(" ", "-"))
    assert.deepStrictEqual(yield* seriousFindings(page, colorsOnly), [], look)
  }
  for (const width of looks === EVERY_LOOK ? BETWEEN : []) {
    yield* Effect.promise(async () => {
      await page.setViewportSize({ width, height: 900 })
      await page.evaluate("new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))")
    })
    assert.isFalse(yield* overflows(page), `${name} ${width}`)
  }
})
