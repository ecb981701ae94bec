/**
 * The documentation as pages and as Markdown, its search index, and the OpenAPI document. Everything is rendered at its first
 * request, so that it does not delay the start.
 */
import { Effect } from "effect"
import { publicRead } from "../../http/contract/Access.ts"
import { BaseUrl, prefixOf } from "../../http/contract/BaseUrl.ts"
import { openApiDocument } from "../../http/openapi/OpenApiDocument.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import type { DocsContent, DocsSource } from "./DocsContent.ts"
import { makeDocsLayout, SEARCH_PATH } from "./DocsLayout.ts"
import { docsNavigation } from "./DocsNavigation.ts"
import { documentedLimits } from "../kit/DocumentedLimits.ts"
import { demoListed, writtenPages, writtenPaths } from "./GuidePages.ts"
import { markdownOf } from "./HtmlMarkdown.ts"
import { referencePages } from "./ReferencePages.ts"
import { pageEntries, referenceEntries } from "./SearchIndex.ts"

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
