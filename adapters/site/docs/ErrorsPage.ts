/**
 * Every error code: what it means, what to do, and an example. The `type` of a problem leads to its entry.
 */
import {
  codes,
  codesByStatus,
  exampleProblem,
  problemAnchor,
  type ProblemCode,
  type ProblemStatus,
  statuses,
  titles
} from "../../http/contract/Problem.ts"
import { type Located, type OpenApiDocument, operationsOf } from "../../http/openapi/OpenApiModel.ts"
import { type Html, html, prose } from "../kit/Html.ts"
import { jsonText } from "../kit/Json.ts"
import { operationPath } from "./DocsNavigation.ts"
import { codesOfOperation, statusBadge } from "./EndpointPage.ts"
import type { Heading } from "./Markdown.ts"

/** Above this number, an entry does not list the endpoints. */
const PLACES_SHOWN_MAX = 12

export interface DocumentedCode {
  readonly status: ProblemStatus
  readonly code: ProblemCode
}

export const documentedCodes: ReadonlyArray<DocumentedCode> = statuses.flatMap((status) =>
  codesByStatus[status].map((code) => ({ status, code }))
)

export const errorHeadings: ReadonlyArray<Heading> = documentedCodes.map(({ code }) => ({
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
