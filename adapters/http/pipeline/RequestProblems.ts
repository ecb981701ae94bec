/**
 * Problems of a request itself, before the rules of the domain apply.
 */
import {
  forbidden,
  inFlight,
  keyConflict,
  limitReached,
  notConfigured,
  notFound,
  type ProblemTable,
  unavailableFor
} from "./ProblemTable.ts"

const UNAVAILABLE_RETRY_AFTER_SECONDS = 2
/** For a database that does not respond. */
const LATE_RETRY_AFTER_SECONDS = 5

export const requestProblems = {
  BadRequest: (e) => ({
    status: 400,
    code: "BAD_REQUEST",
    ...(e.faults === undefined ? {} : { details: e.faults })
  }),
  IdempotencyConflict: keyConflict(),
  IdempotencyInFlight: inFlight,
  MethodNotAllowed: (e) => ({ status: 405, code: "METHOD_NOT_ALLOWED", headers: { allow: e.allow.join(", ") } }),
  NotFound: notFound(),
  NotFromOwnPage: forbidden(),
  OperatorDisabled: notConfigured("The operator can set OPERATOR_KEY and restart the service."),
  RequestTimedOut: () => unavailableFor(LATE_RETRY_AFTER_SECONDS),
  PathRejected: (e) => ({ status: 404, code: "NOT_FOUND", details: e.faults }),
  PayloadTooLarge: () => ({ status: 413, code: "PAYLOAD_TOO_LARGE", headers: { connection: "close" } }),
  RateLimited: (e) => limitReached(e.limit, e.retryAfterSeconds, e.resetAfterSeconds),
  RouteNotFound: notFound(),
  StoreUnavailable: () => ({
    ...unavailableFor(UNAVAILABLE_RETRY_AFTER_SECONDS),
    message:
      "The service cannot reach its database at the moment. Try again in a few seconds: what is sent again with the same " +
      "Idempotency-Key is done once."
  }),
  UnsupportedMediaType: () => ({
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
    headers: { accept: "application/json" }
  }),
  ValidationFailed: (e) => ({ status: 422, code: "VALIDATION_ERROR", details: e.faults })
} satisfies Partial<ProblemTable>
