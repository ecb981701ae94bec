/**
 * One endpoint on the documentation page: who may call it, what it takes, what it answers, and a call to copy.
 */
import { type Located, type OpenApiDocument, type Response, responseOf } from "../openapi/OpenApiModel.ts"
import { callers } from "../openapi/Operations.ts"
import { curlExample } from "./CurlExample.ts"
import { fieldTable, parameterTable } from "./FieldTable.ts"
import { type Html, html, prose } from "./Html.ts"
import { jsonView } from "./JsonView.ts"

const JSON_TYPE = "application/json"

export const anchorOf = ({ operation }: Located): string => operation.operationId.replaceAll(".", "-")

export const methodBadge = (method: string): Html => html`<span class="method ${method.toLowerCase()}">${method}</span>`

export const endpointSection = (located: Located, document: OpenApiDocument): Html => {
  const { method, path, operation } = located
  const { schemas } = document.components
  const id = anchorOf(located)
  const who = callers(operation["x-roles"])
  const body = operation.requestBody?.content[JSON_TYPE]
  const responses = Object.entries(operation.responses).map(([status, response]) =>
    [status, responseOf(document, response)] as const)
  const answers = responses.filter(([, response]) => response.content[JSON_TYPE] !== undefined)
  return html`
<article class="endpoint" id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title"><a class="anchor" href="#${id}">${operation.summary}</a></h3>
<p class="line">${methodBadge(method)} <code>${breakablePath(path)}</code></p>
<div class="columns">
<div class="text">
${operation.description.split("\n\n").map((paragraph) =>
    paragraph === who ? html`<p class="who">${who}</p>` : html`<p>${prose(paragraph)}</p>`)}
${operation.parameters.length === 0 ? "" : parameterTable(operation.parameters, schemas)}
${body === undefined ? "" : fieldTable("Body", body.schema, schemas, true)}
${answers.map(([status, response]) =>
    html`<details class="answer"><summary>Fields of the answer ${status}</summary>${
      fieldTable(`Answer ${status}`, response.content[JSON_TYPE]!.schema, schemas, false)
    }</details>`)}
${responseTable(responses)}
</div>
<div class="aside">
<figure><figcaption>Request <span class="hint">a click selects it all</span></figcaption><pre><code class="whole">${
    curlExample(located, document.servers[0]?.url ?? "")
  }</code></pre></figure>
${answers.map(([status, response]) =>
    html`<figure><figcaption>Answer ${status}</figcaption><pre class="tall" tabindex="0" role="region" aria-label="Answer ${status} of ${method} ${path}"><code>${
      jsonView(response.content[JSON_TYPE]!.example ?? null)
    }</code></pre></figure>`)}
</div>
</div>
</article>`
}

const responseTable = (responses: ReadonlyArray<readonly [string, Response]>): Html =>
  html`<table class="responses">
<caption>Answers</caption>
<thead><tr><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead>
<tbody>${responses.map(([status, response]) =>
    html`
<tr><th scope="row"><span class="status s${status.slice(0, 1)}">${status}</span></th><td>${prose(response.description)}${
      codesOf(response).map((code) => html` <a class="code" href="#error-${code}"><code>${code}</code></a>`)
    }</td></tr>`)}
</tbody></table>`

const codesOf = (response: Response): ReadonlyArray<string> =>
  Object.values(response.content).flatMap((media) => Object.keys(media.examples ?? {}))

/** A long path may break before its slashes. */
const breakablePath = (path: string): ReadonlyArray<Html> =>
  path.split(/(?=\/)/u).map((piece, index) => index === 0 ? html`${piece}` : html`<wbr>${piece}`)

