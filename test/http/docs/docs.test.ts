/**
 * The API reference: complete, escaped, with examples that are valid commands, and an entry for every error code.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { codes, type ProblemCode } from "../../../adapters/http/contract/Problem.ts"
import { allEndpoints } from "../../../adapters/http/openapi/Api.ts"
import { openApiDocument } from "../../../adapters/http/openapi/OpenApiDocument.ts"
import { type OpenApiDocument, operationsOf } from "../../../adapters/http/openapi/OpenApiModel.ts"
import { conventionsPage } from "../../../adapters/site/docs/ConventionsPage.ts"
import { endpointPage, typeScriptExample } from "../../../adapters/site/docs/EndpointPage.ts"
import { errorsPage, resourcePage, resourcesOf } from "../../../adapters/site/docs/ReferencePages.ts"
import { curlExample, SAMPLE_IDS } from "../../../adapters/site/kit/Samples.ts"
import { darkColors, lightColors } from "../../../adapters/site/kit/SiteStyle.ts"
import { contrast, elementsOf, parseHtml, textOf, wordsOf } from "../../support/checks/HtmlCheck.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const facts = { addressRpm: 600, registrationRpm: 30, consumerRpm: 60, consumerRpmMax: 6_000, providerRpm: 600 }
const document = openApiDocument("https://billing.example.org")
const operations = operationsOf(document)
const locatedAt = (method: string, path: string) =>
  operations.find((located) => located.method === method && located.path === path)!

describe("the list of errors", () => {
  const entries = elementsOf(parseHtml(errorsPage(document).markup))

  it.each(Object.entries(codes))("explains %s, and its endpoints link to it", (code, { remedy }) => {
    const entry = entries.find(({ attributes }) => attributes["id"] === `error-${code}`)
    assert.isDefined(entry)
    assert.include(wordsOf(entry), remedy.replaceAll("`", ""))
    for (const endpoint of allEndpoints().filter(({ codes }) => codes.includes(code as ProblemCode))) {
      const page = endpointPage(locatedAt(endpoint.method, endpoint.path.replace(/:(\w+)/gu, "{$1}")), document)
      const links = elementsOf(parseHtml(page.markup)).filter(({ tag }) => tag === "a")
      assert.isTrue(
        links.some(({ attributes }) => attributes["href"] === `/docs/errors#error-${code}`),
        endpoint.operationId
      )
    }
  })
})

describe("the API reference", () => {
  it.each(operations.map((located) => [`${located.method} ${located.path}`, located] as const))(
    "documents %s",
    (_, located) => {
      const { method, operation, path } = located
      const page = parseHtml(endpointPage(located, document).markup)
      const text = wordsOf(page)
      assert.include(text, `${operation.summary} ${method} ${path}`)
      const codes = elementsOf(page)
        .filter(({ tag }) => tag === "code")
        .map(textOf)
      assert.include(codes, curlExample(located, "https://billing.example.org"))
      const program = typeScriptExample(located, "https://billing.example.org")
      if (program !== undefined) assert.include(codes, program)
      for (const paragraph of operation.description.split("\n\n")) assert.include(text, paragraph.replaceAll("`", ""))
      for (const parameter of operation.parameters) assert.include(text, parameter.name)
      for (const status of Object.keys(operation.responses)) assert.include(text, status)
    }
  )

  it("documents type, requirement and limits of fields", () => {
    const page = endpointPage(locatedAt("POST", "/api/market/register-consumer"), document)
    const rows = elementsOf(parseHtml(page.markup))
      .filter((element) => element.tag === "tr")
      .map(wordsOf)
    assert.include(rows, "name required string · 1 to 200 characters Name of the account.")
    assert.isTrue(rows.some((row) => row.startsWith("use_case string · at most 4,000 characters")))
  })

  it("has a form for every parameter and body of a request", () => {
    for (const located of operations) {
      const elements = elementsOf(parseHtml(endpointPage(located, document).markup))
      const names = elements.flatMap(({ attributes, tag }) =>
        ["input", "textarea"].includes(tag) ? [attributes["name"]] : []
      )
      const { operation } = located
      assert.sameMembers(names, [
        ...(operation["x-roles"].length === 0 ? [] : ["key"]),
        ...operation.parameters.filter((parameter) => parameter.in !== "header").map(({ name }) => name),
        ...(operation.requestBody === undefined ? [] : ["body"])
      ])
    }
  })

  it("has every endpoint once, under its resource and in the contract's order", () => {
    const resources = resourcesOf(document)
    assert.deepStrictEqual(
      resources.map(({ name }) => name),
      document.tags.map(({ name }) => name)
    )
    const listed = resources.flatMap((resource) =>
      elementsOf(parseHtml(resourcePage(resource).markup))
        .filter(({ attributes }) => attributes["class"] === "line")
        .map(wordsOf)
    )
    assert.deepStrictEqual(
      listed,
      allEndpoints().map(({ method, path }) => `${method} ${path.replace(/:(\w+)/gu, "{$1}")}`)
    )
  })

  it("escapes texts", () => {
    const evil = `</code><script>alert("1")</script>'&amp;`
    const spoilt = JSON.parse(
      JSON.stringify(document).replaceAll("Search the catalog", JSON.stringify(evil).slice(1, -1))
    ) as OpenApiDocument
    const located = operationsOf(spoilt).find(({ operation }) => operation.operationId === "catalog.catalog")!
    const found = elementsOf(parseHtml(endpointPage(located, spoilt).markup))
    assert.isFalse(found.some(({ tag }) => tag === "script"))
    assert.isTrue(found.some((element) => element.tag === "h1" && wordsOf(element) === evil))
  })

  it("states the limits in its conventions", () => {
    const text = wordsOf(parseHtml(conventionsPage(document, facts).markup))
    assert.include(text, "Registrations per IP address 30")
    assert.include(text, "https://billing.example.org")
  })
})

describe("the colors", () => {
  it.each([
    ["light", lightColors],
    ["dark", darkColors]
  ] as const)("have sufficient contrast in %s", (_, colors) => {
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
        headers.some((header) => /^Authorization: Bearer ./u.test(header)),
        operation["x-roles"].length > 0
      )
      for (const { example, in: place, name, required } of operation.parameters) {
        if (required && place === "header") assert.include(headers, `${name}: ${String(example)}`)
      }
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
    env: {
      CONSUMER_KEY: "the-key",
      PROVIDER_KEY: "the-key",
      API_KEY: "the-key",
      ...Object.fromEntries(SAMPLE_IDS.map(([id, variable]) => [variable, id]))
    }
  })
    .split("\0")
    .slice(0, -1)
  const after = (flag: string) => words.flatMap((word, index) => (words[index - 1] === flag ? [word] : []))
  const flags = ["-X", "-H", "-d"]
  const url = words.find((word, index) => !flags.includes(word) && !flags.includes(words[index - 1] ?? ""))
  return { url: new URL(url!), method: after("-X")[0], headers: after("-H"), body: after("-d")[0] }
}

it.layer(ServiceUnderTest.memory({ RATE_LIMIT_IP_RPM: "77", RATE_LIMIT_RPM: "0" }), LIVE)("GET /docs/api", (it) => {
  it.effect("is public and shows this service's limits", () =>
    Effect.gen(function* () {
      const answer = yield* send({ path: "/docs/api" })
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
