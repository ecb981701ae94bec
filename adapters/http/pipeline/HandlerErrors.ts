/**
 * Maps every typed failure of a handler to its problem.
 */
import { type AccountError, accountProblems } from "./problems/AccountProblems.ts"
import { type CallError, callProblems } from "./problems/CallProblems.ts"
import { type MoneyError, moneyProblems } from "./problems/MoneyProblems.ts"
import type { ProblemRow, ProblemTable } from "./problems/ProblemTable.ts"
import { type RequestError, requestProblems } from "./problems/RequestProblems.ts"
import { type TrustError, trustProblems } from "./problems/TrustProblems.ts"
import type { Problem } from "./Problems.ts"

export type HandlerError = AccountError | CallError | MoneyError | RequestError | TrustError

const table: ProblemTable<HandlerError> = {
  ...accountProblems,
  ...callProblems,
  ...moneyProblems,
  ...requestProblems,
  ...trustProblems
}

export const problemOf = <R extends HandlerError>(rejection: R, baseUrl: string): Problem => {
  const rowOf = table[rejection._tag] as (rejection: R, baseUrl: string) => ProblemRow
  const { hint, message = rejection.message, ...problem } = rowOf(rejection, baseUrl)
  return { ...problem, message: hint === undefined ? message : `${message} ${hint}` }
}
