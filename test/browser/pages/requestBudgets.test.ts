/**
 * How many requests of the API a page or a tab of a console makes when it is opened. Each one costs a round trip, and
 * counts against a rate limit: a page has one request for what it shows at once, and one for each list.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open, type Opened } from "../../support/market/Browser.ts"
import { catalogShop, OPERATOR_KEY } from "../../support/market/CatalogShop.ts"
import { entered, openTab, settled } from "../../support/market/ProviderPage.ts"
import { post } from "../../support/servers/ServiceProcess.ts"

const RELOADS = 6

/** The page of a tool reads it again with the key of its reader. All other public pages need none. */
const OF_TOOL_PAGE = 2

/** By tab, without the one that says whose key or session it is. */
const OF_TABS = {
  "/developer": {
    Overview: 1,
    Calls: 2,
    Keys: 1,
    Budgets: 2,
    Funds: 1,
    Invoices: 1,
    Disputes: 1,
    "Connect a client": 1,
    Settings: 1
  },
  "/provider": {
    Overview: 1,
    Tools: 1,
    Calls: 3,
    "Earnings and payouts": 4,
    Trust: 2,
    Disputes: 2,
    Settings: 3
  },
  "/operator": {
    Overview: 1,
    Disputes: 1,
    Accounts: 1,
    Payouts: 1,
    "Losses and claims": 3,
    "Log and witness": 1,
    Jobs: 1,
    "Audit trail": 1
  }
} as const

const WHOSE = new Set(["/api/v1/market/whoami", "/api/v1/operator/session"])

const apiRequests = (asked: ReadonlyArray<string>): ReadonlyArray<string> =>
  asked
    .map((url) => new URL(url))
    .filter(({ pathname }) => pathname.startsWith("/api/"))
    .map(({ pathname, search }) => `${pathname}${search}`)

const idle = (page: Page) => Effect.promise(() => page.waitForLoadState("networkidle"))

/** What the open page requests when it is loaded again. */
const reloaded = Effect.fnUntraced(function* ({ asked, page }: Opened) {
  yield* idle(page)
  const before = asked.length
  yield* Effect.promise(() => page.reload())
  yield* settled(page)
  yield* idle(page)
  return apiRequests(asked.slice(before))
})

const isWithin = (name: string, requests: ReadonlyArray<string>, max: number) =>
  assert.isAtMost(requests.length, max, `${name}: ${requests.join(", ")}`)

const tabsAreWithin = Effect.fnUntraced(function* (opened: Opened, path: keyof typeof OF_TABS) {
  const budgets: Readonly<Record<string, number>> = OF_TABS[path]
  const titles = yield* Effect.promise(() => opened.page.locator(".console-tabs a").allInnerTexts())
  assert.sameMembers(titles, Object.keys(budgets), "every tab has a budget")
  for (const title of titles) {
    yield* openTab(opened.page, title)
    const requests = yield* reloaded(opened)
    const whose = requests.findIndex((one) => WHOSE.has(one))
    assert.isAtLeast(whose, 0, `${path}, ${title}`)
    isWithin(`${path}, ${title}`, requests.toSpliced(whose, 1), budgets[title]!)
  }
})

/** A person who reloads the first tab meets no rate limit. */
const reloadsAreAnswered = Effect.fnUntraced(function* (opened: Opened) {
  yield* openTab(opened.page, "Overview")
  const statuses = new Set<number>()
  opened.page.on("response", (response) => {
    if (new URL(response.url()).pathname.startsWith("/api/")) statuses.add(response.status())
  })
  for (let times = 0; times < RELOADS; times++) yield* reloaded(opened)
  assert.deepStrictEqual([...statuses], [200])
  assert.strictEqual(yield* Effect.promise(() => opened.page.locator(".console-main .notice.bad").count()), 0)
})

it.live.skipIf(!hasBrowser)(
  "public pages make few requests of the API",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      const opened = yield* browser
      const paths = ["/", "/catalog", `/catalog/providers/${shop.adaId}`, "/docs", "/status", "/verify", "/changelog"]
      for (const path of [...paths, "/providers/register", "/developers/register", `/catalog/${shop.routeId}`]) {
        const { asked, page } = yield* open(opened, `${shop.url}${path}`)
        yield* idle(page)
        isWithin(path, apiRequests(asked), path.includes(shop.routeId) ? OF_TOOL_PAGE : 0)
      }
    }).pipe(Effect.scoped),
  { timeout: 240_000 }
)

it.live.skipIf(!hasBrowser)(
  "tabs of the consoles make few requests, and reloading them meets no rate limit",
  () =>
    Effect.gen(function* () {
      const shop = yield* catalogShop
      // With a call, every part of the overviews is shown.
      const call = { tool_id: shop.routeId, input: { to: "Ulm", by: "car" } }
      yield* post(`${shop.url}/api/market/proxy`, call, shop.key)
      const opened = yield* browser
      const operator = yield* open(opened, `${shop.url}/operator`)
      yield* Effect.promise(async () => {
        await operator.page.fill("#name", "Ada Lovelace")
        await operator.page.fill("#key", OPERATOR_KEY)
        await operator.page.click("button[type=submit]")
      })
      yield* settled(operator.page)
      const consoles = [
        [yield* entered(opened, shop.url, shop.key, "/developer"), "/developer"],
        [yield* entered(opened, shop.url, shop.adaKey, "/provider"), "/provider"],
        [operator, "/operator"]
      ] as const
      for (const [console, path] of consoles) {
        yield* tabsAreWithin(console, path)
        yield* reloadsAreAnswered(console)
      }
    }).pipe(Effect.scoped),
  { timeout: 240_000 }
)
