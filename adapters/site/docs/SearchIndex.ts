/**
 * The index of the documentation's search: an entry for each section of a guide, each endpoint and each error.
 */
import type { OpenApiDocument } from "../../http/openapi/OpenApiModel.ts"
import { ERRORS_PAGE, problemAnchor } from "../../http/contract/Problem.ts"
import { guide } from "../../http/openapi/ProblemGuide.ts"
import { documentedCodes } from "./ErrorsPage.ts"
import { operationPath, resourcePath } from "./DocsNavigation.ts"
import type { Rendered } from "./Markdown.ts"
import { resourcesOf } from "./ResourcePage.ts"

/** Page and heading, address, words of the text in lower case, first words of it as written. */
export type IndexEntry = readonly [title: string, address: string, words: string, excerpt: string]

const EXCERPT_CHARS_MAX = 110

const entry = (title: string, address: string, text: string): IndexEntry => {
  const plain = text
    .replaceAll(/\]\([^)]*\)/gu, " ")
    .replaceAll(/[`*|[\]\\]/gu, "")
    .replaceAll(/-{3,}|\s+/gu, " ")
    .trim()
  const words = new Set(plain.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [])
  const excerpt = plain.length > EXCERPT_CHARS_MAX ? `${plain.slice(0, EXCERPT_CHARS_MAX).trimEnd()}…` : plain
  return [title, address, [...words].join(" "), excerpt]
}

/** A page that was written as Markdown, with its address. */
export const pageEntries = (path: string, { headings, texts, title }: Rendered): ReadonlyArray<IndexEntry> => [
  entry(title, path, texts[0] ?? ""),
  ...headings.map((heading, index) =>
    entry(`${title}: ${heading.title}`, `${path}#${heading.id}`, texts[index + 1] ?? "")
  )
]

export const referenceEntries = (document: OpenApiDocument): ReadonlyArray<IndexEntry> => [
  ...resourcesOf(document).flatMap(({ description, id, name, operations }) => [
    entry(name, resourcePath(id), description),
    ...operations.map(({ method, operation, path }) =>
      entry(
        operation.summary,
        operationPath(operation.operationId),
        [
          `${method} ${path}.`,
          operation.description,
          ...operation.parameters.map((parameter) => parameter.name),
          ...Object.keys(operation.requestBody?.content["application/json"]?.schema.properties ?? {})
        ].join(" ")
      )
    )
  ]),
  ...documentedCodes.map(({ code, status }) =>
    entry(code, `${ERRORS_PAGE}#${problemAnchor(code)}`, `${status}. ${guide[code].remedy} ${guide[code].message}`)
  )
]
