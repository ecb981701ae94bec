/**
 * Every page of the documentation: small, well formed, without broken links, from this service only, and also as Markdown.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { codes } from "../../../adapters/http/contract/Problem.ts"
import { allEndpoints } from "../../../adapters/http/openapi/Api.ts"
import { docsNavigation } from "../../../adapters/site/docs/DocsNavigation.ts"
import { search } from "../../../adapters/site/docs/DocsSearch.browser.ts"
import { type Element, elementsOf, parseHtml, textOf, wordsOf } from "../../support/checks/HtmlCheck.ts"
import { expecting, textAt } from "../../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const PAGE_BYTES_MAX = 100_000
const INDEX_BYTES_MAX = 300_000
const FILES_MAX = 6

const pages = docsNavigation().order.map(({ path }) => path)

interface ReadPage {
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly elements: ReadonlyArray<Element>
}

const known = new Map<string, ReadPage>()

/** Each page once: parsing all of them takes seconds. */
const read = Effect.fnUntraced(function* (path: string) {
  const found = known.get(path)
  if (found !== undefined) return found
  const { headers, text } = yield* expecting(200, { path, headers: { accept: "text/html" } })
  const page: ReadPage = { headers, text, elements: elementsOf(parseHtml(text)) }
  known.set(path, page)
  return page
})

const valuesOf = (elements: ReadonlyArray<Element>, tag: string, attribute: string): ReadonlyArray<string> =>
  elements.flatMap((element) => {
    const value = element.attributes[attribute]
    return element.tag === tag && value !== undefined ? [value] : []
  })

const idsOf = (elements: ReadonlyArray<Element>): ReadonlyArray<string> =>
  elements.flatMap(({ attributes: { id } }) => (id === undefined ? [] : [id]))

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_IP_RPM: "0" }), LIVE)("the documentation", (it) => {
  it("names no page of the site where an app mounts the API below a prefix", () => {
    const paths = (prefix: string) =>
      docsNavigation(prefix).sections.flatMap(({ links }) => links.map(({ path }) => path))
    assert.includeMembers(paths(""), ["/changelog", "/spec"])
    assert.deepStrictEqual(
      paths("/market").filter((path) => !path.startsWith("/docs")),
      []
    )
  })

  it.effect("has pages of less than 100 kB with their scripts and styles, all from this service", () =>
    Effect.gen(function* () {
      assert.isAbove(pages.length, allEndpoints().length + 20)
      for (const path of pages) {
        const { elements, headers, text } = yield* read(path)
        const files = [
          ...valuesOf(elements, "script", "src"),
          ...elements
            .filter(({ attributes }) => attributes["rel"] === "modulepreload")
            .map(({ attributes }) => attributes["href"]!)
        ]
        assert.isAtMost(files.length, FILES_MAX, path)
        let bytes = Buffer.byteLength(text)
        for (const file of files) bytes += Buffer.byteLength((yield* expecting(200, { path: file })).text)
        assert.isBelow(bytes, PAGE_BYTES_MAX, path)
        const loaded = [...files, ...valuesOf(elements, "img", "src"), ...valuesOf(elements, "iframe", "src")]
        assert.deepStrictEqual(
          loaded.filter((url) => !url.startsWith("/assets/")),
          [],
          path
        )
        assert.isTrue(elements.every(({ attributes }) => !("style" in attributes)))
        const style = textOf(elements.find(({ tag }) => tag === "style")!)
        assert.notMatch(style, /url\(|@import/u)
        const policy = headers["content-security-policy"]!
        assert.include(policy, "default-src 'none'")
        assert.include(policy, `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`)
        assert.notInclude(policy, "unsafe")
      }
    })
  )

  it.effect("has landmarks, ordered headings, unique ids and descriptions", () =>
    Effect.gen(function* () {
      const titles = new Set<string>()
      for (const path of pages) {
        const { elements } = yield* read(path)
        for (const tag of ["header", "main", "footer", "h1", "title"]) {
          assert.lengthOf(
            elements.filter((element) => element.tag === tag),
            1,
            `${path} ${tag}`
          )
        }
        const levels = elements.flatMap(({ tag }) => (/^h[1-6]$/u.test(tag) ? [Number(tag[1])] : []))
        for (const [index, level] of levels.entries()) assert.isAtMost(level, (levels[index - 1] ?? 0) + 1, path)
        const ids = idsOf(elements)
        assert.strictEqual(new Set(ids).size, ids.length, path)
        assert.strictEqual(valuesOf(elements, "a", "href")[0], "#main")
        assert.deepStrictEqual(
          elements
            .filter(({ attributes, tag }) => tag === "a" && attributes["aria-current"] === "page")
            .map(({ attributes }) => attributes["href"])
            .filter((href) => href === path),
          path === "/docs" ? [path, path] : [path]
        )
        const description = elements.find(({ attributes }) => attributes["name"] === "description")
        assert.isAbove(description!.attributes["content"]!.length, 15, path)
        titles.add(wordsOf(elements.find(({ tag }) => tag === "title")!))
      }
      // Endpoints of the original API and of v1 may have the same summary.
      assert.isAbove(titles.size, pages.length * 0.9)
    })
  )

  it.effect("has no broken links: pages and anchors exist", () =>
    Effect.gen(function* () {
      const anchors = new Map<string, ReadonlyArray<string>>()
      const links: Array<readonly [from: string, to: string]> = []
      for (const path of pages) {
        const { elements } = yield* read(path)
        anchors.set(path, idsOf(elements))
        links.push(...valuesOf(elements, "a", "href").map((to) => [path, to] as const))
      }
      const others = new Set<string>()
      for (const [from, to] of links) {
        if (/^(?:https?:\/\/|mailto:)/u.test(to)) continue
        const [path = "", anchor] = to.startsWith("#") ? [from, to.slice(1)] : to.split("#")
        const known = anchors.get(path)
        if (known === undefined) others.add(path)
        else if (anchor !== undefined) assert.include(known, anchor, `${from} leads to ${to}`)
      }
      for (const path of others) yield* expecting(200, { path })
    })
  )

  it.effect("is also Markdown, with links between Markdown pages", () =>
    Effect.gen(function* () {
      const targets = new Set<string>()
      for (const path of pages) {
        const answer = yield* expecting(200, { path: `${path}.md` })
        assert.strictEqual(answer.headers["content-type"], "text/markdown; charset=utf-8")
        assert.match(answer.text, /^# \S/u, path)
        const prose = answer.text.replaceAll(/```.*?```/gsu, "").replaceAll(/`[^`]*`/gu, "")
        assert.notMatch(prose, /<\/?(?:p|div|span|a|li|table|section)\b/u, path)
        for (const [, to] of prose.matchAll(/\]\((\/[^)#\s]*)/gu)) targets.add(to!)
        assert.notMatch(prose, /\]\([^)]*(?<!\/docs[^)]*)\.md/u, path)
      }
      assert.isAbove(targets.size, 20)
      for (const path of targets) yield* expecting(200, { path })
    })
  )

  it.effect("explains a problem where its type leads", () =>
    Effect.gen(function* () {
      const problem = yield* expecting(404, { path: "/api/nothing" })
      const type = new URL(textAt(problem, "type"))
      const { elements } = yield* read(type.pathname)
      assert.include(idsOf(elements), type.hash.slice(1))
    })
  )

  it.effect("keeps the anchors of the single page that it was", () =>
    Effect.gen(function* () {
      const { elements } = yield* read("/docs")
      const moved = new Set(
        elements.filter(({ attributes }) => "data-moved" in attributes).map(({ attributes }) => attributes["id"]!)
      )
      const former = [
        "start",
        "mcp",
        "keys",
        "names",
        "money",
        "idempotency",
        "errors",
        "limits",
        "pages",
        "group-calls",
        ...Object.keys(codes).map((code) => `error-${code}`),
        ...allEndpoints().map(({ operationId }) => operationId.replaceAll(".", "-"))
      ]
      assert.deepStrictEqual(
        former.filter((anchor) => !moved.has(anchor)),
        []
      )
    })
  )

  it.effect("finds pages, endpoints and errors by their words, with a small index", () =>
    Effect.gen(function* () {
      const answer = yield* expecting(200, { path: "/docs/search.json" })
      assert.isBelow(Buffer.byteLength(answer.text), INDEX_BYTES_MAX)
      const index = answer.json as unknown as Parameters<typeof search>[0]
      const first = (query: string) => search(index, query)[0]?.[1]
      assert.strictEqual(first("call a tool"), "/docs/api/calls/proxy")
      assert.strictEqual(first("INSUFFICIENT_FUNDS"), "/docs/errors#error-INSUFFICIENT_FUNDS")
      assert.strictEqual(first("mcp aliases"), "/docs/mcp#aliases")
      assert.strictEqual(first("rollback"), "/docs/upgrade")
      assert.strictEqual(first("quickstart"), "/docs/quickstart")
      assert.strictEqual(first("remove a budget"), "/docs/budgets#remove-a-budget")
      assert.isTrue(search(index, "max_cost").some(([, address]) => address === "/docs/api/calls/proxy"))
      assert.deepStrictEqual(search(index, "  "), [])
      assert.deepStrictEqual(search(index, "xyzzy"), [])
      for (const [, address] of index) {
        const [path = ""] = address.split("#")
        assert.include(pages, path)
      }
    })
  )

  it.effect("answers 404 for pages that do not exist", () =>
    Effect.gen(function* () {
      for (const path of ["/docs/nothing", "/docs/api/calls/nothing", "/docs/nothing.md", "/docs/../docs/mcp"]) {
        assert.strictEqual((yield* send({ path })).status, 404, path)
      }
    })
  )
})
