/**
 * The page of a resource: its endpoints in the contract's order.
 */
import { allEndpoints } from "../../http/openapi/Api.ts"
import { type Located, type OpenApiDocument, operationsOf } from "../../http/openapi/OpenApiModel.ts"
import { breakable, type Html, html, prose } from "../kit/Html.ts"
import { operationPath } from "./DocsNavigation.ts"
import { methodBadge } from "./EndpointPage.ts"

export interface Resource {
  /** The group's identifier in the contract. */
  readonly id: string
  readonly name: string
  readonly description: string
  readonly operations: ReadonlyArray<Located>
}

/** In the contract's order; the document is sorted by path. */
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
