/**
 * The page of an endpoint: roles, parameters, body, responses, errors, examples, and a form that sends the request.
 */
import { ERRORS_PAGE, problemAnchor, type ProblemCode } from "../../http/contract/Problem.ts"
import { callers } from "../../http/openapi/OpenApiDocument.ts"
import {
  type Json,
  type JsonSchema,
  type Located,
  nameOfRef,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Response,
  responseOf
} from "../../http/openapi/OpenApiModel.ts"
import { breakable, type Html, html, jsonText, jsonView, literalText, prose, responsiveTable } from "../kit/Html.ts"
import { curlExample, readingVariables, variablesIn } from "../kit/Samples.ts"
import { copyable } from "../kit/Site.ts"

// Labels for a schema's type and limits.

type Components = OpenApiDocument["components"]["schemas"]

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}"
const INSTANT = "T\\d{2}:\\d{2}:\\d{2}"

const typeOf = (schema: JsonSchema, components: Components): string => {
  if (schema.$ref !== undefined) return typeOf(components[nameOfRef(schema.$ref)] ?? {}, components)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map((choice) => typeOf(choice, components)))].join(" or ")
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value) => `\`${String(value)}\``)
    return values.length === 1 ? `always ${values[0]}` : `one of ${values.join(", ")}`
  }
  switch (schema.type) {
    case "array":
      return schema.items === undefined ? "array" : `array of ${plural(typeOf(schema.items, components))}`
    case "string":
      return named(schema) ?? "string"
    case undefined:
      return "any JSON"
    default:
      return schema.type
  }
}

const limitsOf = (schema: JsonSchema, components: Components): ReadonlyArray<string> => {
  if (schema.$ref !== undefined) return limitsOf(components[nameOfRef(schema.$ref)] ?? {}, components)
  const choices = schema.anyOf?.filter((choice) => choice.type !== "null")
  if (choices?.length === 1) return limitsOf(choices[0]!, components)
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = schema
  return [
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " items"),
    pattern === undefined || named(schema) !== undefined ? "" : `matches \`${pattern}\``,
    schema.default === undefined ? "" : `default \`${JSON.stringify(schema.default)}\``
  ].filter((line) => line !== "")
}

const named = ({ format, pattern }: JsonSchema): string | undefined => {
  if (format === "date-time" || pattern?.includes(INSTANT) === true) return "timestamp (ISO 8601)"
  if (format === "email") return "email address"
  if (format === "uri") return "URL"
  return pattern?.includes(UUID) === true ? "UUID" : undefined
}

const plural = (type: string): string =>
  /^(?:string|integer|number|object|boolean|UUID)$/u.test(type) ? `${type}s` : type

const range = (min: number | undefined, max: number | undefined, unit: string): string => {
  if (min === undefined && max === undefined) return ""
  if (max === undefined) return `at least ${figure(min!)}${unit}`
  return min === undefined ? `at most ${figure(max)}${unit}` : `${figure(min)} to ${figure(max)}${unit}`
}

const figure = (value: number): string =>
  value === Number.MAX_SAFE_INTEGER ? "2⁵³ − 1" : value.toLocaleString("en-US")

// Tables of fields and parameters. Nested fields are listed by path.

interface Field {
  readonly name: string
  readonly required: boolean
  readonly note?: string
  readonly schema: JsonSchema
  readonly description: string
}

const DEPTH_MAX = 4

/** One table, or one per variant of the body. */
const fieldTables = (
  caption: string,
  schema: JsonSchema,
  components: Components,
  showRequired: boolean
): ReadonlyArray<Html> => {
  const variants = schema.anyOf ?? [schema]
  return variants.map((variant, index) => {
    const fields = fieldsOf(variant, components, "", 0)
    const meaning = resolve(variant, components).description ?? ""
    const title = variants.length === 1 ? caption : `${caption}, ${index === 0 ? "either" : "or"}: ${meaning}`
    return fields.length === 0
      ? html`<p class="whatever"><strong>${title}</strong> ${typeOf(variant, components)}</p>`
      : table(title, fields, components, showRequired)
  })
}

const parameterTable = (parameters: ReadonlyArray<Parameter>, components: Components): Html =>
  table(
    "Parameters",
    parameters.map(({ name, required, schema, description, in: place }) => ({
      name,
      required,
      schema,
      description,
      note: place
    })),
    components,
    true
  )

const fieldsOf = (given: JsonSchema, components: Components, prefix: string, depth: number): ReadonlyArray<Field> => {
  const schema = resolve(given, components)
  if (depth > DEPTH_MAX) return []
  if (schema.type === "array" && schema.items !== undefined)
    return fieldsOf(schema.items, components, `${prefix}[]`, depth)
  const choices = schema.anyOf?.filter((choice) => choice.type !== "null")
  if (choices !== undefined) return distinct(choices.flatMap((choice) => fieldsOf(choice, components, prefix, depth)))
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`
    const field: Field = {
      name,
      required: schema.required?.includes(key) === true,
      schema: property,
      description: property.description ?? resolve(property, components).description ?? ""
    }
    return [field, ...fieldsOf(property, components, name, depth + 1)]
  })
}

const distinct = (fields: ReadonlyArray<Field>): ReadonlyArray<Field> =>
  fields.filter((field, index) => fields.findIndex((other) => other.name === field.name) === index)

const resolve = (schema: JsonSchema, components: Components): JsonSchema =>
  schema.$ref === undefined ? schema : (components[nameOfRef(schema.$ref)] ?? {})

const table = (caption: string, fields: ReadonlyArray<Field>, components: Components, showRequired: boolean): Html =>
  responsiveTable(
    "fields",
    caption,
    ["Field", "Description"],
    fields.map((field) => ({
      header: html`<code>${breakable(field.name)}</code>${
          showRequired && field.required ? html` <span class="required">required</span>` : ""
        } <span class="type">${prose(kindOf(field, components))}</span>`,
      cell: prose(field.description)
    }))
  )

const kindOf = ({ note, schema }: Field, components: Components): string =>
  [...(note === undefined ? [] : [note]), typeOf(schema, components), ...limitsOf(schema, components)].join(" · ")

// A form that sends an endpoint's request. A script shows it: without scripts there is nothing to send.

const tryIt = ({ method, operation, path }: Located, baseUrl: string): Html => {
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

// API requests as programs for the TypeScript client.

/** Undefined for a request that the client cannot send: its methods take no headers. */
export const typeScriptExample = ({ operation }: Located, baseUrl: string): string | undefined => {
  if (operation.parameters.some((parameter) => parameter.required && parameter.in === "header")) return undefined
  const [role, ...others] = operation["x-roles"]
  const key = role === undefined ? "" : `, key: process.env["${others.length === 0 ? role.toUpperCase() : "API"}_KEY"]!`
  const [group, name] = operation.operationId.split(".")
  const given = argumentsOf(operation)
  const program = [
    `import { createClient } from "agent-tool-billing/client"`,
    "",
    `const client = createClient({ baseUrl: "${baseUrl}"${key} })`,
    `const response = await client.${group}.${name}(${given === undefined ? "" : literalText(given)})`,
    "console.log(response)"
  ].join("\n")
  return readingVariables(program)
}

const argumentsOf = ({ parameters, requestBody, responses }: Operation): Json | undefined => {
  const payload = requestBody?.content["application/json"]?.example
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1]
  const types = success !== undefined && "content" in success ? Object.keys(success.content) : []
  const accept = types.includes("application/json") ? undefined : types[0]
  const required = (place: Parameter["in"]) =>
    parameters.filter((parameter) => parameter.required && parameter.in === place)
  const values = (found: ReadonlyArray<Parameter>): Json =>
    Object.fromEntries(found.map(({ example, name }) => [name, example ?? ""]))
  const [path, query] = [required("path"), required("query")]
  const given: Record<string, Json> = {
    ...(path.length === 0 ? {} : { params: values(path) }),
    ...(query.length === 0 ? {} : { query: values(query) }),
    ...(payload === undefined ? {} : { payload }),
    ...(accept === undefined ? {} : { accept })
  }
  return Object.keys(given).length === 0 ? undefined : given
}

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
const requestExamples = (located: Located, document: OpenApiDocument): Html => {
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
