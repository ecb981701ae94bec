/**
 * API requests as programs for the TypeScript client.
 */
import type { Json, Located, Parameter } from "../../http/openapi/OpenApiModel.ts"
import { readingVariables } from "../kit/CurlExample.ts"
import { literalText } from "../kit/Json.ts"

export const typeScriptExample = ({ operation }: Located, baseUrl: string): string => {
  const [role, ...others] = operation["x-roles"]
  const key = role === undefined ? "" : `, key: process.env["${others.length === 0 ? role.toUpperCase() : "API"}_KEY"]!`
  const [group, name] = operation.operationId.split(".")
  const given = argumentsOf(operation.parameters, operation.requestBody?.content["application/json"]?.example)
  const program = [
    `import { createClient } from "agent-tool-billing/client"`,
    "",
    `const client = createClient({ baseUrl: "${baseUrl}"${key} })`,
    `const response = await client.${group}.${name}(${given === undefined ? "" : literalText(given)})`,
    "console.log(response)"
  ].join("\n")
  return readingVariables(program)
}

const argumentsOf = (parameters: ReadonlyArray<Parameter>, payload: Json | undefined): Json | undefined => {
  const required = (place: Parameter["in"]) =>
    parameters.filter((parameter) => parameter.required && parameter.in === place)
  const values = (found: ReadonlyArray<Parameter>): Json =>
    Object.fromEntries(found.map(({ example, name }) => [name, example ?? ""]))
  const [path, query] = [required("path"), required("query")]
  const given: Record<string, Json> = {
    ...(path.length === 0 ? {} : { params: values(path) }),
    ...(query.length === 0 ? {} : { query: values(query) }),
    ...(payload === undefined ? {} : { payload })
  }
  return Object.keys(given).length === 0 ? undefined : given
}
