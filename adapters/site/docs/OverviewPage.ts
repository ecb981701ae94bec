/**
 * The first page of the documentation: every page, by section. The anchors of the single page that the documentation was
 * before are here, each with a link to its place.
 */
import { ERRORS_PAGE, problemAnchor } from "../../http/contract/Problem.ts"
import { breakable, type Html, html } from "../kit/Html.ts"
import { API_PAGE, operationPath, resourcePath } from "./DocsNavigation.ts"
import { documentedCodes } from "./ErrorsPage.ts"
import { guidePath, guideSections } from "./DocsMap.ts"
import type { Resource } from "./ResourcePage.ts"

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
