/**
 * Files for crawlers, agents and security researchers, and the pages that the operator publishes.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { guides } from "../../../adapters/site/docs/DocsNavigation.ts"
import { elementsOf, parseHtml, wordsOf } from "../../support/checks/HtmlCheck.ts"
import { expecting } from "../../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import { start } from "../../support/servers/ServiceProcess.ts"

const BASE_URL = "https://market.example"
const DAY_MS = 86_400_000

const textAt = (path: string) => Effect.map(expecting(200, { path }), ({ text }) => text)

it.layer(ServiceUnderTest.memory({ BASE_URL, RATE_LIMIT_IP_RPM: "0" }), LIVE)("a service", (it) => {
  it.effect("names its sitemap in robots.txt; every page of it exists", () =>
    Effect.gen(function* () {
      const robots = yield* textAt("/robots.txt")
      assert.match(robots, /^User-agent: \*$/mu)
      const [, sitemap] = /^Sitemap: (\S+)$/mu.exec(robots)!
      assert.strictEqual(sitemap, `${BASE_URL}/sitemap.xml`)
      const answer = yield* expecting(200, { path: "/sitemap.xml" })
      assert.strictEqual(answer.headers["content-type"], "application/xml")
      const urls = [...answer.text.matchAll(/<loc>([^<]+)<\/loc>/gu)].map(([, url]) => url!)
      assert.isAbove(urls.length, 100)
      assert.strictEqual(new Set(urls).size, urls.length)
      const closed = [...robots.matchAll(/^Disallow: (\S+)$/gmu)].map(([, path]) => path!)
      for (const url of urls) {
        assert.isTrue(url.startsWith(`${BASE_URL}/`), url)
        const path = url.slice(BASE_URL.length)
        assert.isFalse(
          closed.some((one) => path.startsWith(one)),
          path
        )
        yield* expecting(200, { path, headers: { accept: "text/html" } })
      }
    })
  )

  it.effect("links to the Markdown of its documentation in llms.txt", () =>
    Effect.gen(function* () {
      const text = yield* textAt("/llms.txt")
      for (const { slug } of guides) assert.include(text, `(${BASE_URL}/docs/${slug}.md)`)
      for (const [, path] of text.matchAll(/\(https:\/\/market\.example(\/docs[^)]*\.md)\)/gu)) {
        yield* expecting(200, { path: path! })
      }
    })
  )

  it.effect("has an icon, and no security.txt without a contact", () =>
    Effect.gen(function* () {
      for (const path of ["/favicon.svg", "/favicon.ico"]) {
        const icon = yield* expecting(200, { path })
        assert.strictEqual(icon.headers["content-type"], "image/svg+xml")
        assert.match(icon.text, /^<svg /u)
      }
      assert.strictEqual((yield* send({ path: "/.well-known/security.txt" })).status, 404)
    })
  )

  it.effect("says what the operator has not published, with the fee in effect", () =>
    Effect.gen(function* () {
      const words = (path: string) => Effect.map(textAt(path), (text) => wordsOf(parseHtml(text)))
      assert.include(yield* words("/docs/terms"), "The operator of this service has not published terms yet.")
      assert.include(yield* words("/docs/privacy"), "has not published a privacy policy yet.")
      assert.include(yield* words("/docs/fees"), "The platform fee is 10% of what a call costs")
    })
  )
})

it.layer(ServiceUnderTest.memory({ BASE_URL, SECURITY_CONTACT: "mailto:security@market.example" }), LIVE)(
  "a service with a contact",
  (it) => {
    it.effect("has a security.txt that expires within a year", () =>
      Effect.gen(function* () {
        const answer = yield* expecting(200, { path: "/.well-known/security.txt" })
        assert.match(answer.headers["content-type"]!, /^text\/plain/u)
        const fields = Object.fromEntries(
          answer.text
            .trim()
            .split("\n")
            .map((line) => line.split(": "))
        )
        assert.strictEqual(fields["Contact"], "mailto:security@market.example")
        assert.strictEqual(fields["Canonical"], `${BASE_URL}/.well-known/security.txt`)
        const days = (Date.parse(fields["Expires"]) - Date.now()) / DAY_MS
        assert.isTrue(days > 100 && days < 366, fields["Expires"])
      })
    )
  }
)

/** With these files. */
const pagesFolder = (files: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "agent-tool-billing-pages-"))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

it.live("the operator's pages are shown as text: HTML and scripts in them have no effect", () =>
  Effect.gen(function* () {
    const folder = yield* pagesFolder({
      "terms.md":
        "# Terms of Ada\n\n## Payment\n\nPay <b>first</b>. [Mail](mailto:ada@example.org) [Bad](javascript:alert(1))\n\n" +
        "<script>alert(1)</script>\n\n![x](https://elsewhere.example/x.png)\n"
    })
    const layer = ServiceUnderTest.memory({ SITE_PAGES_DIR: folder })
    yield* Effect.gen(function* () {
      const { text } = yield* expecting(200, { path: "/docs/terms" })
      const elements = elementsOf(parseHtml(text))
      assert.strictEqual(wordsOf(elements.find(({ tag }) => tag === "h1")!), "Terms of Ada")
      const main = elementsOf(elements.find(({ tag }) => tag === "main")!)
      assert.deepStrictEqual(
        main.filter(({ tag }) => ["script", "b", "img"].includes(tag)),
        []
      )
      assert.include(wordsOf(main[0]!), "Pay <b>first</b>.")
      assert.notMatch(text, /href="javascript:/u)
      assert.include(text, 'href="mailto:ada@example.org"')
      assert.match((yield* expecting(200, { path: "/docs/terms.md" })).text, /^# Terms of Ada\n/u)
      const privacy = yield* expecting(200, { path: "/docs/privacy" })
      assert.include(privacy.text, "has not published a privacy policy yet")
    }).pipe(Effect.provide(layer))
  }).pipe(Effect.scoped)
)

it.live("a folder without pages, or with one that is too long, stops the start with a message", () =>
  Effect.gen(function* () {
    const empty = yield* pagesFolder({})
    const long = yield* pagesFolder({ "fees.md": "x".repeat(40_000) })
    for (const [folder, fault] of [
      [empty, "it contains none of terms.md, privacy.md and fees.md"],
      [long, "fees.md is longer than 32768 bytes"]
    ] as const) {
      const { exit, output, problem } = yield* start(["serve"], {
        settings: { PROFILE: "memory", PORT: "0", SITE_PAGES_DIR: folder }
      })
      assert.notStrictEqual(yield* exit, 0)
      assert.include(output() + problem(), `SITE_PAGES_DIR=${folder}: ${fault}`)
    }
  }).pipe(Effect.scoped)
)
