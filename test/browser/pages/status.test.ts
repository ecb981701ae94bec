/**
 * The status page in a browser: current status, 90 days of every check, missing data, database outage.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { Page } from "playwright-core"
import { browser, hasBrowser, open, pictured } from "../../support/market/Browser.ts"
import { isReadable } from "../../support/checks/Readability.ts"
import { DatabaseLink } from "../../support/servers/DatabaseLink.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const EVIL = `<img src=x onerror="document.title='owned'">'"&`
const CHECKS = ["background", "clock", "database", "disk", "log", "rate_limits", "schema", "service"]

const daysAgo = (days: number) =>
  Effect.map(DateTime.now, (now) => DateTime.formatIso(DateTime.subtract(now, { days })).slice(0, 10))

/** Sixty days with outages and a degraded day; ten days earlier, a check with HTML in its name. */
const aPast = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const add = Effect.fnUntraced(function* (days: number, check: string, degraded: number, down: number) {
    yield* sql`INSERT INTO health_history (day, check_name, ok, degraded, down)
      VALUES (${yield* daysAgo(days)}::text::date, ${check}, ${1_440 - degraded - down}, ${degraded}, ${down})
      ON CONFLICT DO NOTHING`
  })
  for (let days = 1; days <= 60; days++) {
    for (const check of CHECKS) {
      const isHit = check === "database" || check === "service"
      if (days === 12) yield* add(days, check, 0, isHit ? 60 : 0)
      else if (days === 30) yield* add(days, check, 0, isHit ? 1_440 : 0)
      else if (days === 41) yield* add(days, check, check === "rate_limits" || check === "service" ? 300 : 0, 0)
      else if (days !== 20) yield* add(days, check, 0, days === 3 && isHit ? 1 : 0)
    }
  }
  yield* add(70, EVIL, 7, 0)
})

const started = Effect.gen(function* () {
  const { url } = yield* DatabaseLink
  return yield* ready({
    PROFILE: "production",
    PAYMENTS: "dry_run",
    DATABASE_URL: Redacted.value(url),
    RECEIPT_SIGNING_SECRET: "the secret of the pages' tests, 32 characters or more",
    LOG_SIGNING_KEY: "5eed".repeat(16),
    LOG_LEVEL: "Error"
  })
})

const linked = DatabaseLink.layer.pipe(Layer.provideMerge(PostgresTest.layer))

/** With the text for screen readers. */
const barsOf = (page: Page, check: string) =>
  Effect.promise(() =>
    page.evaluate<ReadonlyArray<{ readonly shape: string; readonly words: string }>>(
      `[...document.querySelectorAll("#history-${check}")].flatMap((title) =>
        [...title.closest("section").querySelectorAll(".bars li")].map((bar) =>
          ({ shape: bar.className, words: bar.textContent })))`
    )
  )

const reloaded = (page: Page, ...wanted: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    await page.reload()
    return page.innerText("main")
  }).pipe(
    Effect.repeat({
      until: (text) => wanted.every((one) => text.includes(one)),
      schedule: Schedule.spaced("500 millis")
    }),
    Effect.timeoutOrElse({
      duration: "100 seconds",
      orElse: () => Effect.die(new Error(`The page never said: ${wanted.join(", ")}`))
    })
  )

const MINUTE = 120_000

it.layer(linked, { timeout: "60 seconds", excludeTestServices: true })("the status page", (it) => {
  it.effect.skipIf(!hasBrowser)(
    "shows the current status and 90 days, accessible, with and without scripts",
    () =>
      Effect.gen(function* () {
        yield* aPast
        const { url } = yield* started
        const opened = yield* browser
        const { asked, complaints, page } = yield* open(opened, `${url}/status`)
        // The first sample may take a while on a busy machine.
        const text = yield* reloaded(page, "operational over", "All systems operational")
        assert.strictEqual(yield* Effect.promise(() => page.title()), "Status · Agent Tool Billing")

        const service = yield* barsOf(page, "service")
        assert.lengthOf(service, 90)
        const at = (days: number) => service[89 - days]!
        assert.strictEqual(at(61).shape, "none")
        assert.match(at(61).words, /^\w+ \d+, 20\d\d: no data$/u)
        assert.strictEqual(at(20).shape, "none")
        assert.deepStrictEqual(
          [at(12).shape, at(30).shape, at(41).shape, at(3).shape, at(2).shape],
          ["down d2", "down d4", "degraded d3", "down d1", "good"]
        )
        assert.match(at(2).words, /: 100% operational of 1,440 checks$/u)
        assert.match(at(30).words, /: 0% operational, 1,440 down of 1,440 checks$/u)
        // One minute of a day is not rounded away.
        assert.match(at(3).words, /: 99\.93% operational, 1 down of 1,440 checks$/u)
        assert.isTrue(service.every(({ words }) => words !== ""))
        for (const check of CHECKS) assert.lengthOf(yield* barsOf(page, check), 90)
        assert.isTrue(
          (yield* barsOf(page, "schema")).slice(0, 89).every(({ shape }) => shape === "good" || shape === "none")
        )
        // Four of the service, three of the database, one of the limits, one of the check with HTML in its name.
        const table = yield* Effect.promise(() => page.innerText("table:has(caption:text('Incidents'))"))
        const today = service[89]!.words.split(":")[0]!
        const rows = table.split("\n").filter((row) => row.trim() !== "" && !row.includes(today))
        // Besides the caption and the header.
        assert.strictEqual(rows.length - 2, 4 + 3 + 1 + 1)

        // Names are escaped.
        assert.include(text, EVIL)
        assert.lengthOf(yield* Effect.promise(() => page.$$("img")), 0)

        // Hovering shows the text of a bar.
        const bar = page.locator("#history-service >> xpath=../.. >> css=.bars li").nth(89 - 12)
        yield* Effect.promise(() => bar.hover())
        const words = bar.locator("span")
        assert.isAbove((yield* Effect.promise(() => words.boundingBox()))!.width, 100)
        assert.isTrue(asked.every((one) => one.startsWith(url)))
        assert.deepStrictEqual(complaints, [])

        yield* isReadable(page, "status")

        const context = yield* Effect.acquireRelease(
          Effect.promise(() => opened.newContext({ javaScriptEnabled: false })),
          (made) => Effect.promise(() => made.close())
        )
        const plain = yield* Effect.promise(() => context.newPage())
        yield* Effect.promise(() => plain.goto(`${url}/status`))
        assert.include(yield* Effect.promise(() => plain.innerText("main")), "UTC")
        // Including the check with HTML in its name.
        const bars = yield* Effect.promise(() => plain.locator(".bars li").count())
        assert.strictEqual(bars, (CHECKS.length + 1) * 90)
      }).pipe(Effect.scoped),
    2 * MINUTE
  )

  it.effect.skipIf(!hasBrowser)(
    "reports a database outage and the recovery",
    () =>
      Effect.gen(function* () {
        const link = yield* DatabaseLink
        const { url } = yield* started
        const { page } = yield* open(yield* browser, `${url}/status`)
        yield* reloaded(page, "All systems operational")
        yield* link.cut
        const text = yield* reloaded(page, "The history is unavailable")
        assert.include(text, "Service outage")
        assert.include(text, "It does not work at the moment.")
        yield* pictured(page, "status-down")
        yield* link.restore
        assert.include(yield* reloaded(page, "All systems operational"), "operational over")
      }).pipe(Effect.scoped),
    2 * MINUTE
  )
})
