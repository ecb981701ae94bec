/**
 * The pages that are generated from the contract: overview, conventions, resources, endpoints and errors.
 */
import { allEndpoints } from "../../http/openapi/Api.ts"
import { ERRORS_PAGE } from "../../http/contract/Problem.ts"
import { callers } from "../../http/openapi/OpenApiDocument.ts"
import { type OpenApiDocument, operationsOf } from "../../http/openapi/OpenApiModel.ts"
import { conventionHeadings, conventionsPage } from "./ConventionsPage.ts"
import type { DocsContent, DocsSource } from "./DocsContent.ts"
import { API_PAGE, operationPath, resourcePath } from "./DocsNavigation.ts"
import type { DocumentedLimits } from "../kit/DocumentedLimits.ts"
import { endpointPage } from "./EndpointPage.ts"
import { errorHeadings, errorsPage } from "./ErrorsPage.ts"
import { overviewPage } from "./OverviewPage.ts"
import { resourcePage, resourcesOf } from "./ResourcePage.ts"

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
