/**
 * A call as it can be pasted into a shell.
 */
import type { Located } from "../openapi/OpenApiModel.ts"
import { jsonText } from "./JsonText.ts"

/** The variable in which the examples expect a key of this role. */
export const keyVariable = (roles: ReadonlyArray<string>): string =>
  roles.length === 1 ? `${roles[0]!.toUpperCase()}_KEY` : "API_KEY"

/** `role`: whose key to send where several roles may call. */
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
  const body = operation.requestBody?.content["application/json"]?.example
  return [
    `curl ${method === "GET" || body !== undefined ? "" : `-X ${method} `}${quoted(url)}`,
    ...(operation["x-roles"].length === 0
      ? []
      : [`-H "Authorization: Bearer $${keyVariable(role === undefined ? operation["x-roles"] : [role])}"`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${singleQuoted(jsonText(body))}`])
  ].join(" \\\n  ")
}

const quoted = (url: string): string => (/^[\w:/.~%-]+$/u.test(url) ? url : singleQuoted(url))

/** As one word of a shell, whatever is in it. */
export const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
