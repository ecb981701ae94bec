/**
 * The page of an endpoint: roles, parameters, body, responses, errors, examples, and a form that sends the request.
 */
import { type Located, type OpenApiDocument, type Response, responseOf } from "../../http/openapi/OpenApiModel.ts"
import { ERRORS_PAGE, problemAnchor, type ProblemCode } from "../../http/contract/Problem.ts"
import { callers } from "../../http/openapi/OpenApiDocument.ts"
import { curlExample, variablesIn } from "../kit/CurlExample.ts"
import { fieldTables, parameterTable } from "./FieldTable.ts"
import { breakable, type Html, html, prose } from "../kit/Html.ts"
import { jsonView } from "../kit/Json.ts"
import { copyable } from "../kit/Site.ts"
import { tryIt } from "./TryIt.ts"
import { typeScriptExample } from "./TypeScriptExample.ts"

const JSON_TYPE = "application/json"

export const methodBadge = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`

export const endpointPage = (located: Located, document: OpenApiDocument): Html => {
  const { method, operation, path } = located
  const { schemas } = document.components
  const who = callers(operation["x-roles"])
  const body = operation.requestBody?.content[JSON_TYPE]
  return html`<article class="endpoint">
    <h1>${operation.summary}</h1>
    <p class="line">${methodBadge(method)} <code>${breakable(path)}</code></p>
    <div class="columns">
      <div class="text">
        ${operation.description
          .split("\n\n")
          .map((paragraph) => (paragraph === who ? html`<p class="who">${who}</p>` : html`<p>${prose(paragraph)}</p>`))}
        ${operation.parameters.length === 0 ? undefined : parameterTable(operation.parameters, schemas)}
        ${body === undefined ? undefined : fieldTables("Body", body.schema, schemas, true)}
        <h2>Responses</h2>
        ${successResponsesOf(located, document).map(
          ([status, response]) =>
            html`<details class="answer">
              <summary>${statusBadge(status)} ${prose(response.description)}</summary>
              ${fieldTables(`Response ${status}`, successOf(response)!.schema, schemas, false)}
            </details>`
        )}
        ${problemList(responsesOf(located, document))} ${tryIt(located, document.servers[0]?.url ?? "")}
      </div>
      <div class="aside">${requestExamples(located, document)}${responseExamples(located, document)}</div>
    </div>
  </article>`
}

/** Tabs, if scripts run. */
export const requestExamples = (located: Located, document: OpenApiDocument): Html => {
  const baseUrl = document.servers[0]?.url ?? ""
  const sample = curlExample(located, baseUrl)
  const variables = variablesIn(sample)
  return html`<div class="tabs" data-tabs="Request">
      ${(
        [
          ["curl", sample],
          ["TypeScript", typeScriptExample(located, baseUrl)]
        ] as const
      ).map(([name, text]) =>
        text === undefined
          ? undefined
          : html`<figure>
              <figcaption>${name}</figcaption>
              ${copyable(text)}
            </figure>`
      )}
    </div>
    ${
      variables.length === 0
        ? undefined
        : html`<p class="small muted">Set and export these first:</p>
            <ul class="small muted">
              ${variables.map(([name, source]) => html`<li><code>${name}</code>: ${prose(source)}</li>`)}
            </ul>`
    }`
}

const responseExamples = (located: Located, document: OpenApiDocument): ReadonlyArray<Html> =>
  successResponsesOf(located, document).map(
    ([status, response]) =>
      html`<figure>
        <figcaption>Response ${status}</figcaption>
        <pre
          class="tall"
          tabindex="0"
          role="group"
          aria-label="Response ${status} of ${located.method} ${located.path}"
        ><code>${response.content[JSON_TYPE] === undefined ? String(successOf(response)!.example) : jsonView(successOf(response)!.example ?? null)}</code></pre>
      </figure>`
  )

const responsesOf = ({ operation }: Located, document: OpenApiDocument) =>
  Object.entries(operation.responses).map(([status, response]) => [status, responseOf(document, response)] as const)

const successResponsesOf = (located: Located, document: OpenApiDocument) =>
  responsesOf(located, document).filter(([, response]) => successOf(response) !== undefined)

/** JSON, or the format of a standard. */
const successOf = (response: Response) =>
  Object.entries(response.content).find(([type]) => type !== "application/problem+json")?.[1]

const problemList = (responses: ReadonlyArray<readonly [string, Response]>): Html =>
  html`<h2>Errors</h2>
    <ul class="problems">
      ${responses.flatMap(([status, response]) =>
        codesOf(response).map(
          (code) =>
            html`<li>
              <a href="${ERRORS_PAGE}#${problemAnchor(code as ProblemCode)}"
                >${statusBadge(status)} <code>${breakable(code)}</code></a
              >
            </li>`
        )
      )}
    </ul>`

export const statusBadge = (status: string): Html => html`<span class="status s${status.slice(0, 1)}">${status}</span>`

const codesOf = (response: Response): ReadonlyArray<string> =>
  Object.values(response.content).flatMap((media) => Object.keys(media.examples ?? {}))

/** Every code that a response of this operation may have. */
export const codesOfOperation = (located: Located, document: OpenApiDocument): ReadonlyArray<string> =>
  responsesOf(located, document).flatMap(([, response]) => codesOf(response))
