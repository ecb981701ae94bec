/**
 * The documentation page: complete, well-formed, escaped, with working examples.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { allEndpoints } from "../../adapters/http/api/Api.ts"
import { openApiDocument } from "../../adapters/http/OpenApiDocument.ts"
import { type OpenApiDocument, operationsOf } from "../../adapters/http/openapi/OpenApiModel.ts"
import { guide } from "../../adapters/http/openapi/ProblemGuide.ts"
import { curlExample } from "../../adapters/site/kit/CurlExample.ts"
import { docsPage } from "../../adapters/site/docs/DocsPage.ts"
import { darkColors, lightColors } from "../../adapters/site/kit/PageStyle.ts"
import { siteLinks } from "../../adapters/site/kit/Site.ts"
import { contrast, type Element, elementsOf, parseHtml, textOf, wordsOf } from "../support/HtmlCheck.ts"
import { LIVE, send, ServiceUnderTest } from "../support/ServiceUnderTest.ts"

const facts = { addressRpm: 600, registrationRpm: 30, consumerRpm: 60, consumerRpmMax: 6_000, providerRpm: 600 }
const document = openApiDocument("https://billing.example.org")
const page = docsPage(document, facts)
const elements = elementsOf(parseHtml(String(page.body)))
const all = (tag: string) => elements.filter((element) => element.tag === tag)
const articles = all("article")
const articleOf = (method: string, path: string): Element =>
  articles.find((article) => {
    const line = elementsOf(article).find((element) => element.attributes["class"] === "line")
    return line !== undefined && wordsOf(line) === `${method} ${path}`
  })!

describe("the documentation page", () => {
  it.each(Object.entries(guide))("explains %s at its endpoints", (code, { places = [] }) => {
    assert.include(String(page.body), `id="error-${code}"`)
    for (const place of places) {
      const endpoint = allEndpoints().find(({ method, path }) => `${method} ${path}` === place)
      assert.isDefined(endpoint, place)
      const article = articleOf(endpoint.method, endpoint.path.replace(/:(\w+)/gu, "{$1}"))
      const links = elementsOf(article).filter(({ tag }) => tag === "a")
      assert.isTrue(
        links.some(({ attributes }) => attributes["href"] === `#error-${code}`),
        place
      )
    }
  })

  it.each(operationsOf(document).map((located) => [`${located.method} ${located.path}`, located] as const))(
    "documents %s",
    (_, located) => {
      const { method, path, operation } = located
      const article = articleOf(method, path)
      const text = wordsOf(article)
      assert.include(text, operation.summary)
      assert.include(
        elementsOf(article)
          .filter(({ tag }) => tag === "code")
          .map(textOf),
        curlExample(located, "https://billing.example.org")
      )
      for (const paragraph of operation.description.split("\n\n")) assert.include(text, paragraph.replaceAll("`", ""))
      for (const parameter of operation.parameters) assert.include(text, parameter.name)
      for (const status of Object.keys(operation.responses)) assert.include(text, status)
    }
  )

  it("documents type, requirement and limits of fields", () => {
    const rows = elementsOf(articleOf("POST", "/api/market/register-consumer"))
      .filter((element) => element.tag === "tr")
      .map(wordsOf)
    assert.include(rows, "name required string · 1 to 200 characters Name of the account.")
    assert.isTrue(rows.some((row) => row.startsWith("use_case string · at most 4,000 characters")))
  })

  it("shows the endpoints in the contract's order, under their groups", () => {
    const groups = all("section").filter((section) => section.attributes["class"] === "group")
    assert.deepStrictEqual(
      groups.map((group) => wordsOf(elementsOf(group).find(({ tag }) => tag === "h2")!)),
      document.tags.map(({ name }) => name)
    )
    assert.strictEqual(articles.length, allEndpoints().length)
  })

  it("has no broken links", () => {
    const ids = elements.flatMap(({ attributes }) => (attributes["id"] === undefined ? [] : [attributes["id"]]))
    assert.strictEqual(new Set(ids).size, ids.length)
    const targets = all("a").map(({ attributes }) => attributes["href"]!)
    assert.deepStrictEqual(
      targets.filter((target) => !siteLinks.includes(target) && !ids.includes(target.slice(1))),
      []
    )
  })

  it("has landmarks, ordered headings and captions", () => {
    for (const tag of ["header", "main", "footer", "h1"]) assert.lengthOf(all(tag), 1, tag)
    assert.deepStrictEqual(
      all("nav").map(({ attributes }) => attributes["aria-label"]),
      ["Site", "On this page"]
    )
    const levels = elements.flatMap(({ tag }) => (/^h[1-6]$/u.test(tag) ? [Number(tag[1])] : []))
    for (const [index, level] of levels.entries()) assert.isAtMost(level, (levels[index - 1] ?? 0) + 1)
    assert.strictEqual(all("a")[0]!.attributes["href"], "#main")
    for (const table of all("table")) assert.isTrue(elementsOf(table).some(({ tag }) => tag === "caption"))
    assert.strictEqual(all("html")[0]!.attributes["lang"], "en")
  })

  it("loads no scripts and no third-party content, and its policy forbids them", () => {
    assert.deepStrictEqual(
      elements.filter(
        ({ tag, attributes }) => ["script", "iframe", "img", "form"].includes(tag) || "style" in attributes
      ),
      []
    )
    assert.isTrue(all("link").every(({ attributes }) => attributes["href"]!.startsWith("data:")))
    const style = textOf(all("style")[0]!)
    assert.notMatch(style, /url\(|@import/u)
    const policy = page.headers["content-security-policy"]!
    assert.include(policy, "default-src 'none'")
    assert.include(policy, `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`)
    assert.notInclude(policy, "unsafe")
  })

  it("escapes texts", () => {
    const evil = `</code><script>alert("1")</script>'&amp;`
    const spoilt = JSON.parse(
      JSON.stringify(document).replaceAll("Search the catalog", JSON.stringify(evil).slice(1, -1))
    ) as OpenApiDocument
    const found = elementsOf(parseHtml(docsPage(spoilt, facts).body as string))
    assert.isFalse(found.some(({ tag }) => tag === "script"))
    assert.isTrue(found.some((element) => element.tag === "h3" && wordsOf(element) === evil))
  })

  it.each([
    ["light", lightColors],
    ["dark", darkColors]
  ] as const)("has sufficient contrast in %s", (_, colors) => {
    const pairs: ReadonlyArray<readonly [keyof typeof lightColors, keyof typeof lightColors]> = [
      ...(["ink", "muted", "accent"] as const).flatMap((text) =>
        (["ground", "panel", "tint"] as const).map((ground) => [text, ground] as const)
      ),
      ...(["get", "post", "delete"] as const).map((text) => [text, `${text}-ground`] as const),
      ...(["code-ink", "code-muted", "code-key", "code-text", "code-literal"] as const).map(
        (text) => [text, "code-ground"] as const
      )
    ]
    for (const [text, ground] of pairs)
      assert.isAtLeast(contrast(colors[text], colors[ground]), 4.5, `${text} on ${ground}`)
  })
})

describe("a curl example", () => {
  it.each(operationsOf(document).map((located) => [`${located.method} ${located.path}`, located] as const))(
    "of %s is a valid shell command",
    (_, located) => {
      const { url, method, headers, body } = asCurlSees(curlExample(located, "https://billing.example.org"))
      const { operation } = located
      assert.strictEqual(method ?? (body === undefined ? "GET" : "POST"), located.method)
      assert.strictEqual(url.origin, "https://billing.example.org")
      assert.match(url.pathname, new RegExp(`^${located.path.replace(/\{\w+\}/gu, "[^/{}]+")}$`, "u"))
      assert.deepStrictEqual(
        [...url.searchParams.keys()],
        operation.parameters
          .filter((parameter) => parameter.required && parameter.in === "query")
          .map(({ name }) => name)
      )
      assert.deepStrictEqual(
        body === undefined ? undefined : JSON.parse(body),
        operation.requestBody?.content["application/json"]?.example
      )
      assert.strictEqual(
        headers.some((header) => header === "Authorization: Bearer the-key"),
        operation["x-roles"].length > 0
      )
    }
  )

  it("survives an apostrophe in a body", () => {
    const spoilt = JSON.parse(
      JSON.stringify(document).replaceAll('"Ada Tools"', '"Ada\'s $HOME `tools`"')
    ) as OpenApiDocument
    const located = operationsOf(spoilt).find(
      ({ method, path }) => method === "POST" && path === "/api/market/register-provider"
    )!
    const { body } = asCurlSees(curlExample(located, "https://billing.example.org"))
    assert.strictEqual((JSON.parse(body!) as { readonly name: string }).name, "Ada's $HOME `tools`")
  })
})

/** The arguments that curl receives. */
const asCurlSees = (command: string) => {
  const words = execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${command}`], {
    encoding: "utf8",
    env: { CONSUMER_KEY: "the-key", PROVIDER_KEY: "the-key", OPERATOR_KEY: "the-key", API_KEY: "the-key" }
  })
    .split("\0")
    .slice(0, -1)
  const after = (flag: string) => words.flatMap((word, index) => (words[index - 1] === flag ? [word] : []))
  const flags = ["-X", "-H", "-d"]
  const url = words.find((word, index) => !flags.includes(word) && !flags.includes(words[index - 1] ?? ""))
  return { url: new URL(url!), method: after("-X")[0], headers: after("-H"), body: after("-d")[0] }
}

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_IP_RPM: "77", RATE_LIMIT_RPM: "0" }), LIVE)("GET /docs", (it) => {
  it.effect("is public and shows this service's limits", () =>
    Effect.gen(function* () {
      const answer = yield* send({ path: "/docs" })
      assert.strictEqual(answer.status, 200)
      assert.include(answer.headers, {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "public, max-age=60"
      })
      assert.include(answer.headers["content-security-policy"], "default-src 'none'")
      const text = wordsOf(parseHtml(answer.text))
      assert.include(text, "IP address 77")
      assert.include(text, "Consumer, default no limit")
    })
  )
})
