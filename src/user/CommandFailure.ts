/**
 * The reason why a user's command failed: a message that a person can act on, and an exit code that a program can.
 */
import { Runtime, Schema } from "effect"
import { NoAnswerError, type Problem, ProblemError } from "../../client/Problem.ts"
import { formatPrice } from "../../domain/shared/Microcents.ts"
import { rootMessage } from "../../domain/shared/StoreUnavailable.ts"
import { safeLine } from "./CommandOutput.ts"

/** Documented in docs/guides/command-line.md; they never change. */
const EXIT_CODES = {
  failed: 1,
  invalid: 2,
  signed_out: 3,
  not_found: 4,
  no_funds: 5,
  tool_failed: 6,
  unavailable: 7,
  not_valid: 8
} as const

type FailureKind = keyof typeof EXIT_CODES

export class CommandFailure extends Schema.TaggedError<CommandFailure>()("CommandFailure", {
  kind: Schema.Literals(Object.keys(EXIT_CODES) as ReadonlyArray<FailureKind>),
  text: Schema.String,
  /** A program reads these fields too, with `--json`. */
  details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  asJson: Schema.optionalKey(Schema.Boolean)
}) {
  override readonly [Runtime.errorExitCode] = EXIT_CODES[this.kind]
  override get message() {
    if (this.asJson !== true) return this.text
    return JSON.stringify({ kind: this.kind, message: this.text, ...this.details })
  }
}

export const failed = (kind: FailureKind, text: string, details: Readonly<Record<string, unknown>> = {}) =>
  new CommandFailure({ kind, text, details })

/** Explains why a request to the service at `url` failed. */
export const failureOf = (error: unknown, url: string): CommandFailure => {
  if (error instanceof ProblemError) return ofProblem(error)
  if (error instanceof NoAnswerError) {
    return failed(
      "unavailable",
      `The service at ${url} does not respond: ${rootMessage(error)}. Check that it is running, and the address.`,
      error.idempotencyKey === undefined ? {} : { idempotency_key: error.idempotencyKey }
    )
  }
  return failed("failed", rootMessage(error))
}

const ofProblem = ({ idempotencyKey, problem }: ProblemError): CommandFailure => {
  const kind = kindOf(problem.status)
  const faults = (problem.details ?? [])
    .filter(({ message }) => !problem.message.includes(message.replace(/\.$/u, "")))
    .map(({ message, path }) => ` ${path.join(".")}: ${message.replace(/\.$/u, "")}.`)
  return failed(
    kind,
    safeLine(
      `${problem.code === "CAP_REQUIRED" ? capRequired(problem) : problem.message}${faults.join("")}${adviceOn(problem.code)}`
    ),
    {
      code: problem.code,
      request_id: problem.request_id,
      ...("receipt_id" in problem && problem.receipt_id !== undefined ? { receipt_id: problem.receipt_id } : {}),
      ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey })
    }
  )
}

/** A command has neither a body nor headers, which the service names. */
const capRequired = (problem: Extract<Problem, { readonly code: "CAP_REQUIRED" }>): string =>
  `This tool is usage-priced: one call costs up to ${formatPrice(BigInt(problem.max_cost_microcents))}, and no cap is set. ` +
  "Nothing was charged. Add --max-cost with the most that you pay, in dollars, such as --max-cost 0.25" +
  (problem.default_cap_url === undefined ? "." : `, or set a default cap at ${problem.default_cap_url}.`)

const kindOf = (status: number): FailureKind => {
  if (status === 401 || status === 403) return "signed_out"
  if (status === 402) return "no_funds"
  if (status === 404 || status === 410) return "not_found"
  if (status === 502 || status === 504) return "tool_failed"
  if (status === 429 || status >= 500) return "unavailable"
  return "invalid"
}

const adviceOn = (code: string): string => {
  switch (code) {
    case "UNAUTHORIZED":
      return " Sign in with `login`."
    case "INSUFFICIENT_FUNDS":
      return " `funds load 5` adds $5.00."
    case "PRICE_CHANGED":
      return " --max-cost sets your cap, in dollars."
    default:
      return ""
  }
}
