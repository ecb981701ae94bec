/**
 * API requests as curl commands.
 */
import type { Json, Located } from "../../http/openapi/OpenApiModel.ts"
import { jsonText } from "./Json.ts"

/** The shell variable with a key of this role. */
const keyVariable = (roles: ReadonlyArray<string>): string =>
  roles.length === 1 ? `${roles[0]!.toUpperCase()}_KEY` : "API_KEY"

/** `role`: the key to send if several roles are allowed. */
export const curlExample = ({ method, path, operation }: Located, baseUrl: string, role?: string): string => {
  const required = operation.parameters.filter((parameter) => parameter.required)
  const filled = required
    .filter((parameter) => parameter.in === "path")
    .reduce((url, parameter) => url.replace(`{${parameter.name}}`, encodeURIComponent(String(parameter.example))), path)
  const query = required
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => `${parameter.name}=${encodeURIComponent(String(parameter.example))}`)
    .join("&")
  const url = `${baseUrl}${filled}${query === "" ? "" : `?${query}`}`
  return command(
    method,
    url,
    operation["x-roles"].length === 0 ? undefined : keyVariable(role === undefined ? operation["x-roles"] : [role]),
    operation.requestBody?.content["application/json"]?.example
  )
}

export const curlPost = (url: string, role: string, body: Json): string =>
  command("POST", url, keyVariable([role]), body)

const command = (method: string, url: string, key: string | undefined, body: Json | undefined): string =>
  [
    `curl ${method === (body === undefined ? "GET" : "POST") ? "" : `-X ${method} `}${quoted(url)}`,
    ...(key === undefined ? [] : [`-H "Authorization: Bearer $${key}"`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${singleQuoted(jsonText(body))}`])
  ].join(" \\\n  ")

const quoted = (url: string): string => (/^[\w:/.~%-]+$/u.test(url) ? url : singleQuoted(url))

/** Quoted as one shell word. */
export const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
