/**
 * Problem documents (RFC 9457), and the problems that do not come from a typed failure.
 */
import { escapeHiddenJson } from "../../../domain/shared/PlainText.ts"
import { prefixOf } from "../contract/BaseUrl.ts"
import { problemType, titles } from "../contract/Problem.ts"
import type { HandlerError } from "./HandlerErrors.ts"
import { accountProblems } from "./AccountProblems.ts"
import { callProblems } from "./CallProblems.ts"
import { moneyProblems } from "./MoneyProblems.ts"
import type { Problem, ProblemRow, ProblemTable } from "./ProblemTable.ts"
import { requestProblems } from "./RequestProblems.ts"
import { trustProblems } from "./TrustProblems.ts"
import type { WebResponse } from "./WebRequest.ts"

const table = {
  ...accountProblems,
  ...callProblems,
  ...moneyProblems,
  ...requestProblems,
  ...trustProblems
} satisfies ProblemTable

type StatusOf<Tag extends HandlerError["_tag"]> = ReturnType<(typeof table)[Tag]>["status"]

/** The errors whose problems have one of these statuses. */
export type ErrorWithStatus<Status> = {
  [Tag in HandlerError["_tag"]]: StatusOf<Tag> extends Status ? Extract<HandlerError, { readonly _tag: Tag }> : never
}[HandlerError["_tag"]]

export const problemOf = (rejection: HandlerError, baseUrl: string): Problem => {
  const rowOf = table[rejection._tag] as (rejection: HandlerError, baseUrl: string) => ProblemRow
  const { hint, message = rejection.message, ...problem } = rowOf(rejection, baseUrl)
  const text = hint === undefined ? message : `${message} ${hint}`
  return { ...problem, message: problem.status === 404 ? belowPrefix(text, prefixOf(baseUrl)) : text }
}

/** Where another app mounts the API, paths in the text are those that its clients request. */
const belowPrefix = (text: string, prefix: string): string =>
  prefix === "" ? text : text.replaceAll(/(?<=\b(?:GET|POST|PUT|DELETE|at) )\//gu, `${prefix}/`)

/** A defect. Its cause is in the log, with the request id. */
export const internalError: Problem = {
  status: 500,
  code: "INTERNAL_ERROR",
  message: "Something went wrong on our side. Nothing was charged twice; the request id names the case."
}

export const toAnswer = (problem: Problem, requestId: string, instance: string, baseUrl: string): WebResponse => ({
  status: problem.status,
  headers: { "content-type": "application/problem+json", "cache-control": "no-store", ...problem.headers },
  body: escapeHiddenJson(
    JSON.stringify({
      type: problemType(baseUrl, problem.code),
      title: titles[problem.status],
      status: problem.status,
      detail: problem.message,
      instance: `${prefixOf(baseUrl)}${instance}`,
      error: true,
      code: problem.code,
      message: problem.message,
      request_id: requestId,
      ...(problem.details === undefined ? {} : { details: problem.details }),
      ...problem.extra
    })
  )
})
