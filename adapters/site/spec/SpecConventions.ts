/**
 * Specification of requests, idempotency and errors.
 */
import { KEYS_PER_OWNER_MAX } from "../../../domain/accounts/Keys.ts"
import { IDEMPOTENCY_DAYS_KEPT, IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "../../../domain/shared/Page.ts"
import { codesByStatus, titles } from "../../http/contract/Problem.ts"
import { exampleProblem, statuses } from "../../http/openapi/EndpointProblems.ts"
import { guide } from "../../http/openapi/ProblemGuide.ts"
import { BODY_BYTES_MAX, JSON_DEPTH_MAX } from "../../http/pipeline/RequestBody.ts"
import type { DocumentedLimits } from "../kit/DocumentedLimits.ts"
import type { Html } from "../kit/Html.ts"
import { jsonText } from "../kit/Json.ts"
import { code, formatNumber, list, paragraph, type SpecSection, table } from "./SpecMarkup.ts"

export const requestsSection = (limits: DocumentedLimits): SpecSection => ({
  id: "requests",
  title: "Requests",
  body: [
    list(
      "Authentication: `Authorization: Bearer <key>`, or `X-API-Key: <key>` where no bearer token is sent, checked before the body is read. Endpoints that need no key ignore an invalid one. A key consists of its role's prefix (`atb_c_` consumer, `atb_p_` provider), 256 random bits and a checksum: the first 8 hex digits of the SHA-256 of everything before it.",
      `Keys are stored as hashes. An account has up to ${KEYS_PER_OWNER_MAX} active keys; a revoked key is rejected on every node within a second.`,
      `Bodies are JSON of at most ${formatNumber(BODY_BYTES_MAX)} bytes and ${JSON_DEPTH_MAX} levels.`,
      `Lists accept \`limit\` (default ${PAGE_LIMIT_DEFAULT}, usually at most ${PAGE_LIMIT_MAX}), \`offset\` and \`cursor\`. \`next_cursor\` of a response is the cursor of the next page; it is stable while items are added.`,
      "Timestamps are ISO 8601 in UTC with milliseconds and `Z`. Signed content is returned byte for byte."
    ),
    ...rateLimits(limits)
  ]
})

export const rateLimits = (limits: DocumentedLimits): ReadonlyArray<Html> => [
  table(
    "Rate limits in requests per minute",
    ["Scope", "Limit"],
    [
      ["IP address", rate(limits.addressRpm)],
      ["Registrations per IP address", rate(limits.registrationRpm)],
      ["Consumer, default", rate(limits.consumerRpm)],
      ["Consumer, maximum", rate(limits.consumerRpmMax)],
      ["Provider", rate(limits.providerRpm)]
    ]
  ),
  paragraph(
    "Limits are token buckets that refill continuously. Responses carry `X-RateLimit-Limit`, `X-RateLimit-Remaining` and",
    "`X-RateLimit-Reset` (seconds). Requests over the limit return 429 with `Retry-After` and `retry_after_seconds`."
  )
]

const rate = (rpm: number): string => (rpm === 0 ? "no limit" : formatNumber(rpm))

export const idempotencySection = (): SpecSection => ({
  id: "idempotency",
  title: "Idempotent requests",
  body: [
    paragraph(
      "Every POST that moves money or creates something accepts an `Idempotency-Key` of 1 to",
      `${IDEMPOTENCY_KEY_CHARS_MAX} characters. Keys are scoped to the account and kept for at least ${IDEMPOTENCY_DAYS_KEPT} days.`
    ),
    list(
      "Same key, method, path and body: the stored response with `Idempotent-Replay: true`. The operation is not repeated or charged again.",
      "Same key, different request: 409 `IDEMPOTENCY_CONFLICT`.",
      "An unauthenticated registration is not replayed, because its response contains an API key: 409, and no account is created.",
      "While the first request is in progress, the second one waits for it or returns 409 with `Retry-After`.",
      "After a request that failed without effect, the key can be used again.",
      "CloudEvents at `POST /api/v1/market/meter` need no header: `source` and `id` are the key."
    )
  ]
})

export const errorsSection = (): SpecSection => ({
  id: "errors",
  title: "Errors",
  body: [
    paragraph(
      "Errors are `application/problem+json` (RFC 9457) with `error`, `code`, `message`, `request_id`, and `details` with the path",
      "of each invalid field. Branch on `code`; `type` is the URL of the code's documentation."
    ),
    list(
      "Unknown body fields and query parameters: 422 `VALIDATION_ERROR` with the nearest known name. Only `utm_*` parameters are ignored.",
      "Exempt: `input`, `arguments`, `metadata`, `evidence`, JSON Schemas, CloudEvents attributes, and the bodies of `POST /api/v1/verify`, webhooks, waitlist, feedback and apply.",
      "Invalid and repeated query parameters: 400. A `limit` above its maximum counts as the maximum."
    ),
    code(jsonText(exampleProblem(422, "VALIDATION_ERROR"))),
    table(
      "Error codes",
      ["Status", "Code", "What to do"],
      statuses.flatMap((status) =>
        codesByStatus[status].map((name) => [`${status} ${titles[status]}`, `\`${name}\``, guide[name].remedy])
      )
    )
  ]
})
