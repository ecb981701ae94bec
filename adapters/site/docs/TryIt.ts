/**
 * A form that sends an endpoint's request. A script shows it: without scripts there is nothing to send.
 */
import type { Located, Parameter } from "../../http/openapi/OpenApiModel.ts"
import { type Html, html } from "../kit/Html.ts"
import { jsonText } from "../kit/Json.ts"

export const tryIt = ({ method, operation, path }: Located, baseUrl: string): Html => {
  const roles = operation["x-roles"]
  const body = operation.requestBody?.content["application/json"]?.example
  return html`<form
    class="try"
    data-method="${method}"
    data-path="${path}"
    data-url="${baseUrl}"
    data-role="${roles[0] ?? ""}"
    aria-labelledby="try-title"
    hidden
  >
    <h2 id="try-title">Try it</h2>
    <p class="small muted">
      ${method === "GET" ? "Sends the request to this service." : "Sends the request to this service. It has its real effect: it can change data and move money."}
    </p>
    ${
      roles.length === 0
        ? undefined
        : field(
            "try-key",
            "API key",
            html`<input id="try-key" name="key" type="password" autocomplete="off" required />`
          )
    }
    ${operation.parameters.filter((parameter) => parameter.in !== "header").map(parameterField)}
    ${
      body === undefined
        ? undefined
        : field(
            "try-body",
            "Body",
            html`<textarea id="try-body" name="body" class="code" rows="8" spellcheck="false">
${jsonText(body)}</textarea>`
          )
    }
    <p class="actions"><button type="submit">Send request</button></p>
    <div class="outcome" role="status" hidden></div>
  </form>`
}

const parameterField = ({ example, in: place, name, required }: Parameter): Html =>
  field(
    `try-${name}`,
    `${name}${required ? "" : " (optional)"}`,
    html`<input
      id="try-${name}"
      name="${name}"
      data-in="${place}"
      value="${required ? String(example ?? "") : ""}"
      ${required ? html`required` : undefined}
      spellcheck="false"
      autocomplete="off"
    />`
  )

const field = (id: string, label: string, input: Html): Html =>
  html`<div class="field"><label for="${id}">${label}</label>${input}</div>`
