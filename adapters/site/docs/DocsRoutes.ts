/**
 * The documentation as pages and as Markdown, its search index, and the OpenAPI document. Everything is rendered at its first
 * request, so that it does not delay the start.
 */
import { Effect } from "effect"
import { BaseUrl, prefixOf } from "../../http/contract/BaseUrl.ts"
import { publicRead } from "../../http/contract/Endpoint.ts"
import { codes, ERRORS_PAGE, problemAnchor } from "../../http/contract/Problem.ts"
import { openApiDocument } from "../../http/openapi/OpenApiDocument.ts"
import type { OpenApiDocument } from "../../http/openapi/OpenApiModel.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import { documentedLimits } from "./ConventionsPage.ts"
import { type DocsContent, type DocsSource, makeDocsLayout, SEARCH_PATH } from "./DocsLayout.ts"
import { docsNavigation, operationPath, resourcePath } from "./DocsNavigation.ts"
import { demoListed, writtenPages, writtenPaths } from "./GuidePages.ts"
import { markdownOf, type Rendered } from "./Markdown.ts"
import { documentedCodes, referencePages, resourcesOf } from "./ReferencePages.ts"

// The index of the documentation's search: an entry for each section of a guide, each endpoint and each error.

/** Page and heading, address, words of the text in lower case, first words of it as written. */
type IndexEntry = readonly [title: string, address: string, words: string, excerpt: string]

const EXCERPT_CHARS_MAX = 110

const entry = (title: string, address: string, text: string): IndexEntry => {
  const plain = text
    .replaceAll(/\]\([^)]*\)/gu, " ")
    .replaceAll(/[`*|[\]\\]/gu, "")
    .replaceAll(/-{3,}|\s+/gu, " ")
    .trim()
  const words = new Set(plain.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [])
  const excerpt = plain.length > EXCERPT_CHARS_MAX ? `${plain.slice(0, EXCERPT_CHARS_MAX).trimEnd()}…` : plain
  return [title, address, [...words].join(" "), excerpt]
}

/** A page that was written as Markdown, with its address. */
const pageEntries = (path: string, { headings, texts, title }: Rendered): ReadonlyArray<IndexEntry> => [
  entry(title, path, texts[0] ?? ""),
  ...headings.map((heading, index) =>
    entry(`${title}: ${heading.title}`, `${path}#${heading.id}`, texts[index + 1] ?? "")
  )
]

const referenceEntries = (document: OpenApiDocument): ReadonlyArray<IndexEntry> => [
  ...resourcesOf(document).flatMap(({ description, id, name, operations }) => [
    entry(name, resourcePath(id), description),
    ...operations.map(({ method, operation, path }) =>
      entry(
        operation.summary,
        operationPath(operation.operationId),
        [
          `${method} ${path}.`,
          operation.description,
          ...operation.parameters.map((parameter) => parameter.name),
          ...Object.keys(operation.requestBody?.content["application/json"]?.schema.properties ?? {})
        ].join(" ")
      )
    )
  ]),
  ...documentedCodes.map(({ code, status }) =>
    entry(code, `${ERRORS_PAGE}#${problemAnchor(code)}`, `${status}. ${codes[code].remedy} ${codes[code].message}`)
  )
]

/** Left out of the endpoint indexes, which would list every page. */
const UNLISTED = ""

type Source = DocsSource<Effect.Effect<DocsContent>>

export const docsRoutes = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  const layout = yield* makeDocsLayout(docsNavigation(prefixOf(baseUrl)))
  const written = yield* writtenPages
  const hasDemo = yield* demoListed
  const limits = yield* documentedLimits
  const document = yield* Effect.cached(Effect.sync(() => openApiDocument(baseUrl)))
  const contract = yield* Effect.cached(Effect.map(document, (one) => jsonReply(one)))
  const index = yield* Effect.cached(
    Effect.map(Effect.all([written, document]), ([pages, one]) =>
      jsonReply([...pages.flatMap(({ path, rendered }) => pageEntries(path, rendered)), ...referenceEntries(one)])
    )
  )

  const reference = yield* Effect.forEach(referencePages(limits), ([path, contentOf]) =>
    Effect.map(Effect.cached(Effect.map(document, contentOf)), (content): Source => [path, content])
  )
  const sources: ReadonlyArray<Source> = [
    ...reference,
    ...writtenPaths.map((path): Source => [
      path,
      Effect.map(Effect.all([written, hasDemo]), ([pages, demo]) => {
        const page = pages.find((one) => one.path === path)!
        return demo ? page.content : page.withoutDemo
      })
    ])
  ]
  const routes = sources.map(([path, source]) => {
    const pages = new WeakMap<DocsContent, EncodedReply>()
    const laidOut = (content: DocsContent): EncodedReply => {
      const page = pages.get(content) ?? layout({ path, ...content })
      pages.set(content, page)
      return page
    }
    const text = Effect.map(source, ({ body, markdown }) => textReply(markdown ?? markdownOf(body)))
    return [
      documentRoute(path, publicRead, Effect.map(source, laidOut), path === "/docs" ? "Documentation" : UNLISTED),
      documentRoute(`${path}.md`, publicRead, text, UNLISTED)
    ]
  })
  return [
    ...routes.flat(),
    documentRoute(SEARCH_PATH, publicRead, index, UNLISTED),
    documentRoute("/api/openapi.json", publicRead, contract, "OpenAPI 3.1 document")
  ]
})

const jsonReply = (value: unknown): EncodedReply => ({
  status: 200,
  headers: { "content-type": "application/json; charset=utf-8" },
  body: JSON.stringify(value)
})

const textReply = (body: string): EncodedReply => ({
  status: 200,
  headers: { "content-type": "text/markdown; charset=utf-8" },
  body
})
