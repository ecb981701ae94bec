/**
 * What a page may cost its reader, as the browser itself measures it: bytes over the network, requests, and the time until
 * something is seen.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { catalogShop } from "../../support/market/CatalogShop.ts"
import { entered, openTab } from "../../support/market/ProviderPage.ts"

/** A hundred times what an idle machine needs. */
const FIRST_PAINT_MS_MAX = 20_000

interface Cost {
  readonly bytes: number
  readonly requests: number
  readonly firstPaintMs: number
}

/** Of the page and all that it loaded so far. A busy browser may paint its first frame after the last request. */
const costOf = (page: Page): Effect.Effect<Cost> =>
  Effect.promise(async () => {
    await page.waitForLoadState("networkidle")
    return page.evaluate<Cost>(`(async () => {
      const firstPaintMs = await new Promise((resolve) =>
        new PerformanceObserver((list) =>
          list.getEntriesByName("first-contentful-paint").forEach(({ startTime }) => resolve(startTime))
        ).observe({ type: "paint", buffered: true })
      )
      const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      return {
        bytes: all.reduce((sum, { transferSize }) => sum + transferSize, 0),
        requests: all.length,
        firstPaintMs
      }
    })()`)
  })

const isWithin = Effect.fnUntraced(function* (page: Page, name: string, bytesMax: number, requestsMax: number) {
  const { bytes, firstPaintMs, requests } = yield* costOf(page)
  assert.isAbove(bytes, 1_000, `${name}: bytes`)
  assert.isAtMost(bytes, bytesMax, `${name}: bytes`)
  assert.isAtMost(requests, requestsMax, `${name}: requests`)
  assert.isAtMost(firstPaintMs, FIRST_PAINT_MS_MAX, `${name}: first paint`)
})

it.live.skipIf(!hasBrowser)(
  "pages keep to their budgets of bytes, requests and time",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const opened = yield* browser
      // About twice of what each needs.
      for (const [path, bytesMax, requestsMax] of [
        ["/", 35_000, 14],
        ["/catalog", 35_000, 18],
        [`/catalog/${shop.routeId}`, 140_000, 48],
        ["/docs", 35_000, 10],
        ["/status", 25_000, 10],
        ["/verify", 30_000, 14],
        ["/providers/register", 40_000, 20]
      ] as const) {
        const { page } = yield* open(opened, `${shop.url}${path}`)
        yield* isWithin(page, path, bytesMax, requestsMax)
      }
      for (const [path, key, title] of [
        ["/developer", shop.key, "Calls"],
        ["/provider", shop.adaKey, "Tools"]
      ] as const) {
        const { page } = yield* entered(opened, shop.url, key, path)
        yield* isWithin(page, path, 170_000, 80)
        // Another tab loads its own modules and data only.
        yield* openTab(page, title)
        yield* isWithin(page, `${path}, then ${title}`, 220_000, 115)
      }
    }).pipe(Effect.scoped),
  { timeout: 240_000 }
)
