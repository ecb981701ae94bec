/**
 * An endpoint in the API reference: roles, parameters, body, responses, errors and examples.
 */
import { type Located, type OpenApiDocument, type Response, responseOf } from "../../http/openapi/OpenApiModel.ts"
import { callers } from "../../http/OpenApiDocument.ts"
import { curlExample } from "../kit/CurlExample.ts"
import { fieldTables, parameterTable } from "./FieldTable.ts"
import { breakable, type Html, html, prose } from "../kit/Html.ts"
import { jsonView } from "../kit/Json.ts"

const JSON_TYPE = "application/json"

export const anchorOf = ({ operation }: Located): string => operation.operationId.replaceAll(".", "-")

export const methodBadge = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`

export const endpointSection = (located: Located, document: OpenApiDocument): Html => {
  const { method, path, operation } = located
  const { schemas } = document.components
  const id = anchorOf(located)
  const who = callers(operation["x-roles"])
  const body = operation.requestBody?.content[JSON_TYPE]
  return html` <article class="endpoint" id="${id}" aria-labelledby="${id}-title">
    <h3 id="${id}-title"><a class="anchor" href="#${id}">${operation.summary}</a></h3>
    <p class="line">${methodBadge(method)} <code>${breakable(path)}</code></p>
    <div class="columns">
      <div class="text">
        ${operation.description
          .split("\n\n")
          .map((paragraph) => (paragraph === who ? html`<p class="who">${who}</p>` : html`<p>${prose(paragraph)}</p>`))}
        ${operation.parameters.length === 0 ? "" : parameterTable(operation.parameters, schemas)}
        ${body === undefined ? "" : fieldTables("Body", body.schema, schemas, true)}
        <h4>Responses</h4>
        ${successResponsesOf(located, document).map(
          ([status, response]) =>
            html`<details class="answer">
              <summary>${statusBadge(status)} ${prose(response.description)}</summary>
              ${fieldTables(`Response ${status}`, successOf(response)!.schema, schemas, false)}
            </details>`
        )}
        ${problemList(responsesOf(located, document))}
      </div>
      <div class="aside">${examples(located, document)}</div>
    </div>
  </article>`
}

/** Example request and responses. */
export const examples = (located: Located, document: OpenApiDocument): ReadonlyArray<Html> => [
  html`<figure>
    <figcaption>Request <span class="hint">Click to select</span></figcaption>
    <pre><code class="whole">${breakable(curlExample(located, document.servers[0]?.url ?? ""))}</code></pre>
  </figure>`,
  ...successResponsesOf(located, document).map(
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
]

const responsesOf = ({ operation }: Located, document: OpenApiDocument) =>
  Object.entries(operation.responses).map(([status, response]) => [status, responseOf(document, response)] as const)

const successResponsesOf = (located: Located, document: OpenApiDocument) =>
  responsesOf(located, document).filter(([, response]) => successOf(response) !== undefined)

/** JSON, or the format of a standard. */
const successOf = (response: Response) =>
  Object.entries(response.content).find(([type]) => type !== "application/problem+json")?.[1]

const problemList = (responses: ReadonlyArray<readonly [string, Response]>): Html =>
  html`<h4>Errors</h4>
    <ul class="problems">
      ${responses.flatMap(([status, response]) =>
        codesOf(response).map(
          (code) =>
            html`<li>
              <a href="#error-${code}">${statusBadge(status)} <code>${breakable(code)}</code></a>
            </li>`
        )
      )}
    </ul>`

export const statusBadge = (status: string): Html => html`<span class="status s${status.slice(0, 1)}">${status}</span>`

export const codesIn = (document: OpenApiDocument): ReadonlyArray<string> =>
  Object.values(document.components.responses).flatMap(codesOf)

const codesOf = (response: Response): ReadonlyArray<string> =>
  Object.values(response.content).flatMap((media) => Object.keys(media.examples ?? {}))
