/**
 * The buttons of a signed-in developer that add tools to the toolbox, on the catalog and on a tool's page.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { browser, hasBrowser, open } from "../../support/market/Browser.ts"
import { catalogShop } from "../../support/market/CatalogShop.ts"
import { isReadable, NARROW_AND_DARK, WIDE_AND_LIGHT } from "../../support/checks/Readability.ts"
import { json } from "../../support/servers/ServiceProcess.ts"
import { enter, press, promise, shown, SLOW } from "../../support/market/ToolPage.ts"

const toolboxOf = (url: string, key: string) =>
  Effect.map(
    json(`${url}/api/market/toolbox`, { headers: { authorization: `Bearer ${key}` } }),
    ({ body }) => body["tools"] as ReadonlyArray<{ readonly tool_id: string; readonly qualified_name: string }>
  )

/** Until the change has reached the caches of the service. */
const chosen = (url: string, key: string, ...ids: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    for (;;) {
      const found = (yield* toolboxOf(url, key)).map(({ tool_id: id }) => id)
      if (found.join() === ids.join()) return
      yield* Effect.sleep("10 millis")
    }
  })

it.live.skipIf(!hasBrowser)(
  "a signed-in developer adds tools to the toolbox and removes them, on the catalog and on a tool's page",
  () =>
    Effect.gen(function* () {
      const { jamId, key, routeId, url } = yield* catalogShop
      const { complaints, page } = yield* open(yield* browser, `${url}/catalog/${routeId}`)
      const buttons = page.getByRole("button", { name: /toolbox/u })
      yield* shown(page, "#call label", /^to$/u)
      assert.strictEqual(yield* promise(() => buttons.count()), 0)

      yield* enter(page, key)
      yield* shown(page, ".toolbox button", /^Add to toolbox$/u)
      yield* press(page, "Add to toolbox: Route planner")
      yield* shown(page, ".toolbox [aria-live]", /Added to your toolbox/u)
      yield* shown(page, ".toolbox button", /^Remove from toolbox$/u)
      yield* chosen(url, key, routeId)
      yield* isReadable(page, "toolbox tool", [WIDE_AND_LIGHT, NARROW_AND_DARK])

      yield* promise(() => page.goto(`${url}/catalog?q=road`))
      yield* shown(page, ".toolbox button", /^Remove from toolbox$/u)
      yield* press(page, "Add to toolbox: jam")
      yield* shown(page, ".toolbox [aria-live]", /Added to your toolbox/u)
      yield* chosen(url, key, routeId, jamId)
      yield* isReadable(page, "toolbox catalog", [WIDE_AND_LIGHT, NARROW_AND_DARK])
      yield* press(page, "Remove from toolbox: Route planner")
      yield* shown(page, ".toolbox [aria-live]", /Removed from your toolbox/u)
      yield* chosen(url, key, jamId)
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.scoped),
  SLOW
)
