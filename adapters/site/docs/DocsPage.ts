/**
 * The documentation page, generated from the OpenAPI document, and the document itself. Both are rendered at the first
 * request, so that they do not delay the start.
 */
import { Effect, Option } from "effect"
import { DEMO_PROVIDER_ID } from "../../../domain/accounts/BuiltInProvider.ts"
import { qualifiedName } from "../../../domain/accounts/Handle.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import type { CatalogEntry } from "../../../domain/catalog/CatalogStore.ts"
import { publicRead } from "../../http/api/Access.ts"
import { allEndpoints } from "../../http/api/Api.ts"
import { BaseUrl } from "../../http/BaseUrl.ts"
import { openApiDocument } from "../../http/OpenApiDocument.ts"
import { type Located, type OpenApiDocument, operationsOf } from "../../http/openapi/OpenApiModel.ts"
import { documentRoute, type EncodedReply } from "../../http/pipeline/Route.ts"
import { anchorOf, endpointSection, examples, methodBadge } from "./DocsEndpoint.ts"
import { introduction, parts } from "./DocsIntroduction.ts"
import type { SampleCall } from "./DocsQuickstart.ts"
import { type DocumentedLimits, documentedLimits } from "./DocumentedLimits.ts"
import { docsStyle } from "./DocsStyle.ts"
import { type Html, html } from "../kit/Html.ts"
import { sampleInput } from "../kit/SampleInput.ts"
import { pageReply } from "../kit/PageDocument.ts"
import { siteFooter, siteHeader } from "../kit/Site.ts"

export const docsRoutes = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  const limits = yield* documentedLimits
  const document = once(() => openApiDocument(baseUrl))
  const catalog = yield* Catalog
  const pages = new Map<string | undefined, EncodedReply>()
  const page = (sample: SampleCall | undefined): EncodedReply => {
    const known = pages.get(sample?.tool_name) ?? docsPage(document(), limits, sample)
    pages.set(sample?.tool_name, known)
    return known
  }
  /** Of the demo provider, if this service has one: the quickstart then works as it is. */
  const sample = catalog.findOf(DEMO_PROVIDER_ID, "echo").pipe(
    Effect.map((found) => Option.getOrUndefined(Option.filter(found, ({ tool }) => tool.withdrawnAt === undefined))),
    Effect.map((entry) => (entry === undefined ? undefined : sampleCallOf(entry))),
    Effect.orElseSucceed(() => undefined)
  )
  const json = once((): EncodedReply => ({
    status: 200,
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(document())
  }))
  return [
    documentRoute("/docs", publicRead, Effect.map(sample, page), "Documentation"),
    documentRoute("/api/openapi.json", publicRead, Effect.sync(json), "OpenAPI 3.1 document")
  ]
})

const once = <A extends object>(make: () => A): (() => A) => {
  let made: A | undefined
  return () => (made ??= make())
}

const sampleCallOf = ({ provider, tool }: CatalogEntry): SampleCall => ({
  tool_name: qualifiedName(provider.handle, tool.toolName),
  input: sampleInput(tool.inputSchema ?? null)
})

export const docsPage = (
  document: OpenApiDocument,
  limits: DocumentedLimits,
  sample?: SampleCall | undefined
): EncodedReply => {
  const groups = groupsOf(document)
  return pageReply({
    title: `${document.info.title}: documentation`,
    description: document.info.summary,
    style: docsStyle,
    body: html`
      <a class="skip" href="#main">Skip to content</a>
      ${siteHeader("/docs")}
      <div class="frame">
        ${contents(groups)}
        <main id="main" tabindex="-1">
          ${hero(document)} ${introduction(document, limits, sample)}
          ${groups.map((group) => groupSection(group, document))}
        </main>
      </div>
      ${siteFooter}
    `
  })
}

interface Group {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly operations: ReadonlyArray<Located>
}

/** In the contract's order; the document is sorted by path. */
const groupsOf = (document: OpenApiDocument): ReadonlyArray<Group> => {
  const order = new Map(
    allEndpoints().map(({ method, path }, index) => [`${method} ${path.replace(/:(\w+)/gu, "{$1}")}`, index])
  )
  const positionOf = ({ method, path }: Located) => order.get(`${method} ${path}`) ?? order.size
  const operations = operationsOf(document).toSorted((a, b) => positionOf(a) - positionOf(b))
  return document.tags.map(({ name, description }) => ({
    id: `group-${name.toLowerCase().replace(/[^a-z0-9]+/gu, "-")}`,
    name,
    description,
    operations: operations.filter(({ operation }) => operation.tags.includes(name))
  }))
}

const contents = (groups: ReadonlyArray<Group>): Html =>
  html`<nav class="contents" aria-label="On this page">
    <p class="label plain">Introduction</p>
    <ul>
      ${parts.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
    ${groups.map(
      (group) =>
        html`<p class="label"><a href="#${group.id}">${group.name}</a></p>
          <ul class="deep">
            ${group.operations.map(
              (located) =>
                html`<li>
                  <a href="#${anchorOf(located)}">${methodBadge(located.method)} ${located.operation.summary}</a>
                </li>`
            )}
          </ul>`
    )}
  </nav>`

const hero = (document: OpenApiDocument): Html =>
  html`<section class="hero" aria-labelledby="title">
    <div class="pitch">
      <h1 id="title">${document.info.title}</h1>
      <p class="lead">${document.info.summary}</p>
      <p class="base">
        <span class="label">Base URL</span> <code class="whole">${document.servers[0]?.url ?? ""}</code>
      </p>
    </div>
    ${sampleRequest(document)}
  </section>`

/** A request that needs no key. */
const sampleRequest = (document: OpenApiDocument): Html | undefined => {
  const found = operationsOf(document).find(({ method, path }) => method === "GET" && path === "/api/market/catalog")
  return found === undefined ? undefined : html`<div>${examples(found, document)}</div>`
}

const groupSection = (group: Group, document: OpenApiDocument): Html =>
  html`<section class="group" id="${group.id}" aria-labelledby="${group.id}-title">
    <h2 id="${group.id}-title">${group.name}</h2>
    <p>${group.description}</p>
    <ul class="index">
      ${group.operations.map(
        (located) =>
          html`<li>
            ${methodBadge(located.method)} <a href="#${anchorOf(located)}">${located.path}</a>
            <span>${located.operation.summary}</span>
          </li>`
      )}
    </ul>
    ${group.operations.map((located) => endpointSection(located, document))}
  </section>`
