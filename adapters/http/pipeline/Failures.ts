/**
 * What can be wrong with a request before the rules of the domain apply.
 */
import { Schema } from "effect"
import { inSeconds } from "../../../domain/shared/Time.ts"

/** Further faults of a request are not listed. */
export const FAULTS_MAX = 100

export const Fault = Schema.Struct({
  path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  message: Schema.String
})
export type Fault = typeof Fault.Type

export class BadRequest extends Schema.TaggedError<BadRequest>()("BadRequest", {
  reason: Schema.String,
  faults: Schema.optionalKey(Schema.Array(Fault))
}) {
  override get message() {
    return this.reason
  }
}

export class ValidationFailed extends Schema.TaggedError<ValidationFailed>()("ValidationFailed", {
  faults: Schema.Array(Fault)
}) {
  override get message() {
    return firstOf(this.faults)
  }
}

/** A malformed id in the path: no resource exists under it. */
export class PathRejected extends Schema.TaggedError<PathRejected>()("PathRejected", { faults: Schema.Array(Fault) }) {
  override get message() {
    return firstOf(this.faults)
  }
}

const firstOf = (faults: ReadonlyArray<Fault>): string => {
  const [first] = faults
  if (first === undefined) return "The request is not valid."
  const more = faults.length - 1
  return more === 0 ? first.message : `${first.message} (${more} more: see \`details\`.)`
}

/** All tools of a request were rejected: nothing was changed. */
export class NoToolRegistered extends Schema.TaggedError<NoToolRegistered>()("NoToolRegistered", {
  tools: Schema.Array(
    Schema.Struct({
      index: Schema.Int,
      tool_name: Schema.String,
      error: Schema.String,
      /** For a tool that could not be decoded: its fields with their faults. */
      faults: Schema.optionalKey(Schema.Array(Fault))
    })
  )
}) {
  override get message() {
    return `No tool was registered: ${this.tools.map((tool) => `${tool.tool_name}: ${tool.error}`).join("; ")}`
  }
}

export class RouteNotFound extends Schema.TaggedError<RouteNotFound>()("RouteNotFound", { path: Schema.String }) {
  override get message() {
    return `There is nothing at ${this.path}. GET /api/market lists every endpoint.`
  }
}

export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { what: Schema.String }) {
  override get message() {
    return `${this.what} does not exist.`
  }
}

export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("MethodNotAllowed", {
  method: Schema.String,
  path: Schema.String,
  allow: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${this.path} does not take ${this.method}. It takes ${this.allow.join(", ")}.`
  }
}

export class PayloadTooLarge extends Schema.TaggedError<PayloadTooLarge>()("PayloadTooLarge", {
  bytesMax: Schema.Int
}) {
  override get message() {
    return `The body is larger than ${this.bytesMax} bytes, which is the most that this endpoint takes.`
  }
}

export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>()("UnsupportedMediaType", {
  given: Schema.String
}) {
  override get message() {
    return `The body came as ${this.given}. Send JSON, with Content-Type: application/json.`
  }
}

/** The `Authorization` header contains no key that could be checked. */
export class AuthorizationRejected extends Schema.TaggedError<AuthorizationRejected>()("AuthorizationRejected", {
  fault: Schema.Literals(["no_scheme", "other_scheme"])
}) {
  override get message() {
    return this.fault === "no_scheme"
      ? "The Authorization header has no scheme."
      : "The Authorization header has another scheme than `Bearer`."
  }
}

const aRole = (role: string): string => `${role === "operator" ? "an" : "a"} ${role}`

export class WrongRole extends Schema.TaggedError<WrongRole>()("WrongRole", {
  role: Schema.String,
  needed: Schema.Array(Schema.String)
}) {
  override get message() {
    return `This needs ${this.needed.map(aRole).join(" or ")} key; you sent ${aRole(this.role)} key.`
  }
}

/** A browser sent the operator's cookie with a request of another site's page. */
export class NotFromOwnPage extends Schema.TaggedError<NotFromOwnPage>()("NotFromOwnPage", {
  origin: Schema.UndefinedOr(Schema.String)
}) {
  override get message() {
    const from = this.origin === undefined ? "without an Origin" : `from ${this.origin.slice(0, 200)}`
    return `The operator's session works only on pages of this service, and this request came ${from}. Other clients send \`Authorization: Bearer <key>\`.`
  }
}

const IN_TIME = {
  read: "Try again in a few seconds.",
  write:
    "It may still come to its end. Send it again with the same Idempotency-Key, and it is done once; without a key look " +
    "first whether it was done.",
  call:
    "What has begun of it is settled all the same. Send it again with the same Idempotency-Key: once settled, its answer " +
    "is kept under that key, and nothing is charged twice. Without a key your receipts show whether it was billed."
} as const

/** The request's time was up before the response was ready. */
export class RequestTimedOut extends Schema.TaggedError<RequestTimedOut>()("RequestTimedOut", {
  kind: Schema.Literals(["read", "write", "call"])
}) {
  override get message() {
    return `The service could not answer in time. ${IN_TIME[this.kind]}`
  }
}

export class RateLimited extends Schema.TaggedError<RateLimited>()("RateLimited", {
  limit: Schema.Int,
  retryAfterSeconds: Schema.Int,
  /** When the whole limit is available again. */
  resetAfterSeconds: Schema.Int
}) {
  override get message() {
    return `Too many requests: the limit is ${this.limit} a minute. Retry after ${inSeconds(this.retryAfterSeconds)}.`
  }
}
