/**
 * The system's Chromium: pages of a service on loopback, with every error that occurs in them recorded.
 */
import { Effect, type Scope } from "effect"
import { existsSync } from "node:fs"
import { createRequire } from "node:module"
import { readFileSync } from "node:fs"
import { type Browser, chromium, type Page, type Request } from "playwright-core"

const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome"
]
const executablePath = PLACES.find((place) => existsSync(place))

/** Without it the tests that need it are counted as skipped. */
export const hasBrowser = executablePath !== undefined

const launch = (args: ReadonlyArray<string>): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath!,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", ...args]
  })

/** `args`: additional command-line arguments. */
export const browserWith = (args: ReadonlyArray<string>): Effect.Effect<Browser, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(() => launch(args)),
    (opened) => Effect.promise(() => opened.close())
  )

let shared: Promise<Browser> | undefined

/** One for all tests of a worker, which ends with it: each test has contexts of its own, and a launch takes longer than most tests. */
export const browser: Effect.Effect<Browser> = Effect.promise(async () => {
  const isOpen = await shared?.then(
    (opened) => opened.isConnected(),
    () => false
  )
  if (isOpen !== true) shared = launch([])
  return await shared!
})

/** Of a step in a page, on a busy machine. */
const STEP_MS_MAX = 120_000

export interface Opened {
  readonly page: Page
  /** Console errors, failed requests, violations of the page's own policy. */
  readonly complaints: ReadonlyArray<string>
  /** The URLs that the page requested. */
  readonly asked: ReadonlyArray<string>
}

export interface OpenOptions {
  /** Default: true. False: as for users who disable scripts. */
  readonly scripts?: boolean
}

export const open = Effect.fnUntraced(function* (opened: Browser, url: string, { scripts = true }: OpenOptions = {}) {
  const context = yield* Effect.acquireRelease(
    Effect.promise(() =>
      opened.newContext({ colorScheme: "light", javaScriptEnabled: scripts, viewport: { width: 1_280, height: 900 } })
    ),
    (made) => Effect.promise(() => made.close())
  )
  context.setDefaultTimeout(STEP_MS_MAX)
  const page = yield* Effect.promise(() => context.newPage())
  const complaints: Array<string> = []
  const asked: Array<string> = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  const answered = new WeakSet<Request>()
  page.on("response", (response) => answered.add(response.request()))
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "unknown"
    // Navigation may start before the browser has noted that the previous response was complete.
    if (why === "net::ERR_ABORTED" && answered.has(request)) return
    // Without scripts the browser does not load the modules that a page preloads.
    if (scripts || request.resourceType() !== "script") complaints.push(`${request.url()} failed: ${why}`)
  })
  page.on("request", (request) => asked.push(request.url()))
  yield* Effect.promise(() => page.goto(url, { waitUntil: "load" }))
  const seen: Opened = { page, complaints, asked }
  return seen
})

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const OF_COLOURS = JSON.stringify(["color-contrast", "link-in-text-block"])

/** Serious findings of an accessibility scan. */
export const seriousFindings = (page: Page, colorsOnly = false) =>
  Effect.promise(async () => {
    if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(AXE)
    const rules = colorsOnly ? `runOnly: ${OF_COLOURS},` : ""
    const findings = await page.evaluate<ReadonlyArray<{ readonly id: string; readonly impact: string | null }>>(
      `axe.run(document, { ${rules} resultTypes: ['violations'], selectors: false }).then((found) => found.violations.map(({ id, impact }) => ({ id, impact })))`
    )
    return findings.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id }) => id)
  })

/** Whether the page scrolls horizontally. */
export const overflows = (page: Page) =>
  Effect.promise(() =>
    page.evaluate<boolean>("document.documentElement.scrollWidth > document.documentElement.clientWidth")
  )

/** A screenshot for people, saved where `SCREENSHOTS` names a folder. */
export const pictured = (page: Page, name: string) =>
  Effect.promise(async () => {
    const folder = process.env["SCREENSHOTS"]
    if (folder === undefined) return
    // The documentation is longer than a screenshot may be.
    const fullPage = (await page.evaluate<number>("document.documentElement.scrollHeight")) < 16_000
    await page.screenshot({ path: `${folder}/${name}.png`, fullPage })
  })
