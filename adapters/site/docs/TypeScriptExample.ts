/**
 * API requests as programs for the TypeScript client.
 */
import type { Json, Located, Operation, Parameter } from "../../http/openapi/OpenApiModel.ts"
import { readingVariables } from "../kit/CurlExample.ts"
import { literalText } from "../kit/Json.ts"

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
