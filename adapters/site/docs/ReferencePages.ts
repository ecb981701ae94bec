/**
 * The pages that are generated from the contract: overview, conventions, resources, endpoints and errors.
 */
import { ERRORS_PAGE, problemAnchor } from "../../http/contract/Problem.ts"
import { allEndpoints } from "../../http/openapi/Api.ts"
import { callers } from "../../http/openapi/OpenApiDocument.ts"
import { type OpenApiDocument, operationsOf } from "../../http/openapi/OpenApiModel.ts"
import { breakable, type Html, html } from "../kit/Html.ts"
import { conventionHeadings, conventionsPage, type DocumentedLimits } from "./ConventionsPage.ts"
import type { DocsContent, DocsSource } from "./DocsLayout.ts"
import { guidePath, guideSections } from "./DocsMap.ts"
import { API_PAGE, operationPath, resourcePath } from "./DocsNavigation.ts"
import { endpointPage } from "./EndpointPage.ts"
import { documentedCodes, errorHeadings, errorsPage } from "./ErrorsPage.ts"
import { type Resource, resourcePage, resourcesOf } from "./ResourcePage.ts"

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

export const overviewPage = (resources: ReadonlyArray<Resource>, baseUrl: string): Html => html`
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
