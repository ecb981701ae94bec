/**
 * The pages that are generated from the contract: overview, conventions, resources, endpoints and errors.
 */
import {
  codes,
  codesByStatus,
  ERRORS_PAGE,
  exampleProblem,
  problemAnchor,
  type ProblemCode,
  type ProblemStatus,
  statuses,
  titles
} from "../../http/contract/Problem.ts"
import { allEndpoints } from "../../http/openapi/Api.ts"
import { callers } from "../../http/openapi/OpenApiDocument.ts"
import { type Located, type OpenApiDocument, operationsOf } from "../../http/openapi/OpenApiModel.ts"
import { breakable, type Html, html, jsonText, prose } from "../kit/Html.ts"
import { conventionHeadings, conventionsPage, type DocumentedLimits } from "./ConventionsPage.ts"
import type { DocsContent, DocsSource } from "./DocsLayout.ts"
import { API_PAGE, guidePath, guideSections, operationPath, resourcePath } from "./DocsNavigation.ts"
import { codesOfOperation, endpointPage, methodBadge, statusBadge } from "./EndpointPage.ts"
import type { Heading } from "./Markdown.ts"

// The first page of the documentation: every page, by section. The documentation was one
// page before: its anchors are kept here, each with a link to the page that has the chapter now.

/** Anchors of chapters that have moved to other pages. */
const MOVED: ReadonlyArray<readonly [anchor: string, path: string, title: string]> = [
  ["start", "/docs/quickstart", "Quickstart"],
  ["mcp", "/docs/buy-in-mcp", "Connect an MCP client"],
  ["keys", `${API_PAGE}#keys`, "Authentication"],
  ["names", `${API_PAGE}#names`, "Tool names"],
  ["money", `${API_PAGE}#money`, "Amounts"],
  ["idempotency", `${API_PAGE}#idempotency`, "Idempotent requests"],
  ["errors", ERRORS_PAGE, "Errors"],
  ["limits", `${API_PAGE}#limits`, "Limits"],
  ["pages", `${API_PAGE}#pages`, "Pagination"]
]

const overviewPage = (resources: ReadonlyArray<Resource>, baseUrl: string): Html => html`
  <h1>Documentation</h1>
  <p class="lead">Billing, metering and authentication between agents and the MCP tools that they call.</p>
  <p>Base URL: <code class="whole">${breakable(baseUrl)}</code></p>
  ${guideSections.map(
    ({ guides, title }) =>
      html`<h2>${title}</h2>
        <ul class="cards">
          ${guides.map(
            (guide) =>
              html`<li>
                <a href="${guidePath(guide)}">${guide.title}</a>
                <span>${guide.summary}</span>
              </li>`
          )}
        </ul>`
  )}
  <h2>API reference</h2>
  <ul class="flow">
    ${MOVED.map(([anchor, path, title]) => html`<li id="${anchor}" data-moved><a href="${path}">${title}</a></li>`)}
  </ul>
  ${resources.map(
    ({ id, name, operations }) =>
      html`<h3 id="${oldGroupAnchor(name)}" data-moved><a href="${resourcePath(id)}">${name}</a></h3>
        <ul class="flow">
          ${operations.map(
            ({ operation }) =>
              html`<li id="${operation.operationId.replaceAll(".", "-")}" data-moved>
                <a href="${operationPath(operation.operationId)}">${operation.summary}</a>
              </li>`
          )}
        </ul>`
  )}
  <h3>Error codes</h3>
  <ul class="flow">
    ${documentedCodes.map(
      ({ code }) =>
        html`<li id="${problemAnchor(code)}" data-moved>
          <a href="${ERRORS_PAGE}#${problemAnchor(code)}"><code>${code}</code></a>
        </li>`
    )}
  </ul>
`

const oldGroupAnchor = (name: string): string => `group-${name.toLowerCase().replace(/[^a-z0-9]+/gu, "-")}`

type Source = DocsSource<(document: OpenApiDocument) => DocsContent>

export const referencePages = (limits: DocumentedLimits): ReadonlyArray<Source> => [
  [
    "/docs",
    (document) => ({
      title: "Documentation",
      description: document.info.summary,
      headings: [],
      body: overviewPage(resourcesOf(document), document.servers[0]?.url ?? "")
    })
  ],
  [
    API_PAGE,
    (document) => ({
      title: "API conventions",
      description: "Authentication, amounts, tool names, idempotency, errors, limits and pagination.",
      headings: conventionHeadings,
      body: conventionsPage(document, limits)
    })
  ],
  [
    ERRORS_PAGE,
    (document) => ({
      title: "Errors",
      description: "Every error code: what it means and what to do.",
      headings: errorHeadings,
      body: errorsPage(document)
    })
  ],
  ...groupIds().map((group): Source => [
    resourcePath(group) as `/${string}`,
    (document) => {
      const resource = resourcesOf(document).find(({ id }) => id === group)!
      return { title: resource.name, description: resource.description, headings: [], body: resourcePage(resource) }
    }
  ]),
  ...allEndpoints().map(({ method, operationId, path, rule, summary }): Source => [
    operationPath(operationId) as `/${string}`,
    (document) => ({
      title: summary,
      description: `${method} ${path}. ${callers(rule.roles)}`,
      headings: [],
      tries: true,
      body: endpointPage(
        operationsOf(document).find(({ operation }) => operation.operationId === operationId)!,
        document
      )
    })
  ])
]

const groupIds = (): ReadonlyArray<string> => [
  ...new Set(allEndpoints().map(({ operationId }) => operationId.split(".")[0]!))
]

// The page of a resource: its endpoints in the contract's order.

interface Resource {
  /** The group's identifier in the contract. */
  readonly id: string
  readonly name: string
  readonly description: string
  readonly operations: ReadonlyArray<Located>
}

/** Keeps the contract's order; the document is sorted by path. */
export const resourcesOf = (document: OpenApiDocument): ReadonlyArray<Resource> => {
  const order = new Map(allEndpoints().map(({ operationId }, index) => [operationId, index]))
  const positionOf = ({ operation }: Located) => order.get(operation.operationId) ?? order.size
  const operations = operationsOf(document).toSorted((a, b) => positionOf(a) - positionOf(b))
  return document.tags.map(({ description, name }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name))
    return { id: own[0]?.operation.operationId.split(".")[0] ?? "", name, description, operations: own }
  })
}

export const resourcePage = ({ description, name, operations }: Resource): Html =>
  html`<h1>${name}</h1>
    <p class="lead">${prose(description)}</p>
    <ul class="index">
      ${operations.map(
        ({ method, operation, path }) =>
          html`<li>
            <a href="${operationPath(operation.operationId)}">${operation.summary}</a>
            <span class="line">${methodBadge(method)} <code>${breakable(path)}</code></span>
          </li>`
      )}
    </ul>`

// Every error code: what it means, what to do, and an example. The `type` of a problem leads to its entry.

/** Above this number, an entry does not list the endpoints. */
const PLACES_SHOWN_MAX = 12

interface DocumentedCode {
  readonly status: ProblemStatus
  readonly code: ProblemCode
}

export const documentedCodes: ReadonlyArray<DocumentedCode> = statuses.flatMap((status) =>
  codesByStatus[status].map((code) => ({ status, code }))
)

const errorHeadings: ReadonlyArray<Heading> = documentedCodes.map(({ code }) => ({
  id: problemAnchor(code),
  title: code,
  level: 2
}))

export const errorsPage = (document: OpenApiDocument): Html => {
  const places = placesByCode(document)
  return html`<h1>Errors</h1>
    <p class="lead">
      One entry for each <code>code</code> of a problem. <a href="/docs/api#errors">Conventions</a> describe the
      response.
    </p>
    ${documentedCodes.map((one) => entry(one, places.get(one.code) ?? []))}`
}

const entry = ({ code, status }: DocumentedCode, places: ReadonlyArray<Located>): Html => {
  const id = problemAnchor(code)
  return html`<section class="error" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">
      <a class="anchor" href="#${id}"><code>${code}</code></a>
    </h2>
    <p>${statusBadge(String(status))} ${titles[status]}. For example: “${prose(codes[code].message)}”</p>
    <p><strong>What to do.</strong> ${prose(codes[code].remedy)}</p>
    ${whereOf(places)}
    <details>
      <summary>Example</summary>
      <pre><code>${jsonText(exampleProblem(status, code))}</code></pre>
    </details>
  </section>`
}

const whereOf = (places: ReadonlyArray<Located>): Html | undefined =>
  places.length === 0 || places.length > PLACES_SHOWN_MAX
    ? undefined
    : html`<p><strong>Endpoints.</strong></p>
        <ul>
          ${places.map(
            ({ method, operation, path }) =>
              html`<li>
                <a href="${operationPath(operation.operationId)}">${operation.summary}</a>:
                <code>${method} ${path}</code>
              </li>`
          )}
        </ul>`

const placesByCode = (document: OpenApiDocument): ReadonlyMap<string, ReadonlyArray<Located>> => {
  const places = new Map<string, Array<Located>>()
  for (const located of operationsOf(document)) {
    for (const code of codesOfOperation(located, document)) places.set(code, [...(places.get(code) ?? []), located])
  }
  return places
}
