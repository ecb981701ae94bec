/**
 * The form that edits a tool sends only changed fields.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser } from "../../support/market/Browser.ts"
import { entered, follow, openTab, settled } from "../../support/market/ProviderPage.ts"
import { aSeller, got, listed } from "../../support/market/HttpMarket.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const FULL = {
  tool_name: "search",
  display_name: "",
  description: "Full text of papers",
  category: "search",
  price_microcents: 1_000,
  free_tier_calls: 3,
  input_schema: { type: "object" },
  output_schema: { type: "object", properties: {} },
  billing_policy: "valid_output",
  max_cost_microcents: 5_000,
  timeout_ms: 2_000,
  idempotent: true,
  on_cancel: "pass",
  canceled_call_costs: "nothing"
}

/** Edits the tool; returns the cancellation before and the request body. */
const edited = Effect.fnUntraced(function* (page: Page, change: () => Promise<unknown>) {
  yield* openTab(page, "Tools")
  yield* follow(page, "#tools table", "search")
  const [canceled, answer] = yield* Effect.promise(async () => {
    await page.waitForSelector("#edit-tool")
    const before = await page.inputValue("#edit-tool-on_cancel")
    await change()
    const answering = page.waitForResponse((one) => one.request().method() === "POST")
    await page.click("#edit-tool button[type=submit]")
    const answered = await answering
    await page.waitForSelector("#edit-tool", { state: "detached" })
    return [before, answered] as const
  })
  assert.strictEqual(answer.status(), 201)
  yield* settled(page)
  return [canceled, answer.request().postDataJSON()] as unknown
})

it.live.skipIf(!hasBrowser)(
  "editing a tool sends and changes only the edited fields",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({ PROFILE: "memory", LOG_LEVEL: "Error" })
      const { seller } = yield* aSeller(url)
      yield* listed(seller, FULL)
      const { page } = yield* entered(yield* browser, url, seller.key)
      let reads = 0
      const declared = Effect.gen(function* () {
        const own = yield* got(`${url}/api/v1/market/tools`, seller.key)
        const [tool] = own["tools"] as ReadonlyArray<{ readonly id: string }>
        return (yield* got(`${url}/api/v1/market/tools/${tool!.id}?utm_read=${++reads}`, seller.key))["declaration"]
      })
      const sends = Effect.fnUntraced(function* (
        canceled: string,
        change: () => Promise<unknown>,
        fields: object,
        after: object
      ) {
        assert.deepStrictEqual(yield* edited(page, change), [canceled, { tools: [{ tool_name: "search", ...fields }] }])
        assert.deepStrictEqual(yield* declared, { ...FULL, ...after })
      })

      yield* sends("nothing", () => Promise.resolve(), {}, {})
      const words = { description: "Abstracts of papers" }
      yield* sends("nothing", () => page.fill("#edit-tool-description", words.description), words, words)
      const finish = { on_cancel: "finish" }
      const onCancel = (option: string) => () => page.selectOption("#edit-tool-on_cancel", option)
      yield* sends("nothing", onCancel("finish"), finish, { ...words, ...finish })
      const price = { on_cancel: "pass", canceled_call_costs: "price" }
      yield* sends("finish", onCancel("price"), price, { ...words, ...price })
      const maximum = { max_cost_microcents: 7_500 }
      const after = { ...words, ...price, ...maximum }
      yield* sends("price", () => page.fill("#edit-tool-max_cost_microcents", "0.0075"), maximum, after)
    }).pipe(Effect.scoped),
  { timeout: 180_000 }
)
