/**
 * The specification of what holds for every request: keys, sending again, errors, limits.
 */
import { KEYS_PER_OWNER_MAX } from "../../../domain/accounts/ApiKey.ts"
import { IDEMPOTENCY_DAYS_KEPT, IDEMPOTENCY_KEY_CHARS_MAX } from "../../../domain/shared/Idempotency.ts"
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "../../../domain/shared/Page.ts"
import { codesByStatus, titles } from "../../http/api/Problem.ts"
import { exampleProblem, guide, statuses } from "../../http/openapi/ProblemGuide.ts"
import { BODY_BYTES_MAX, JSON_DEPTH_MAX } from "../../http/pipeline/RequestBody.ts"
import type { DocsFacts } from "../docs/DocsIntroduction.ts"
import { jsonText } from "../kit/JsonText.ts"
import { figure, listing, points, said, type SpecPart, text } from "./SpecParts.ts"

export const requestsPart = (facts: DocsFacts): SpecPart => ({
  id: "requests",
  title: "Requests",
  body: [
    points(
      "`Authorization: Bearer <key>`, checked before the body is read. A key shows its role (`atb_c_` consumer, `atb_p_` provider), has 256 random bits and ends in a checksum: the first 8 hex digits of the SHA-256 of all that stands before it.",
      `A key is shown once and kept as a hash. An account has up to ${KEYS_PER_OWNER_MAX} live ones; a revoked key is refused on every node within a second.`,
      `Bodies are JSON of at most ${figure(BODY_BYTES_MAX)} bytes and ${JSON_DEPTH_MAX} levels.`,
      `Lists take \`limit\` (${PAGE_LIMIT_DEFAULT} where none is given, most ${PAGE_LIMIT_MAX} nearly everywhere), \`offset\`, and \`cursor\`; \`next_cursor\` of an answer leads to the next page and stays right while items are added.`,
      "Instants are ISO 8601 in UTC with milliseconds and `Z`. What was signed is returned byte for byte."
    ),
    listing(
      "Requests a minute; more are answered 429",
      ["Of", "Limit"],
      [
        ["an address", rate(facts.addressRpm)],
        ["registrations from an address", rate(facts.registrationRpm)],
        ["a consumer that asked for nothing else", rate(facts.consumerRpm)],
        ["a consumer at most", facts.consumerRpm === 0 ? rate(0) : rate(facts.consumerRpmMax)],
        ["a provider", rate(facts.providerRpm)]
      ]
    ),
    points(
      "Limits are token buckets: one request is back at a time, not all of them at the end of a minute.",
      "`X-RateLimit-Limit`, `-Remaining` and `-Reset` (seconds) say how things stand; a 429 also `Retry-After` and `retry_after_seconds`."
    )
  ]
})

const rate = (rpm: number): string => (rpm === 0 ? "no limit" : figure(rpm))

export const idempotencyPart = (): SpecPart => ({
  id: "idempotency",
  title: "Sending a request again",
  body: [
    said(
      "Every POST that moves money or creates something takes an `Idempotency-Key` of the caller's making, 1 to",
      `${IDEMPOTENCY_KEY_CHARS_MAX} characters. It is the caller's own: two accounts may use the same.`
    ),
    points(
      "Same key, same method, path and body: the stored answer again, with `Idempotent-Replay: true`. Nothing is done or charged twice.",
      "Same key, another request: 409 `IDEMPOTENCY_CONFLICT`.",
      "An anonymous registration is not repeated, because its answer shows an API key: 409, and nothing is created.",
      "While the first is under way, the second waits for it or is answered 409 with `Retry-After`.",
      "An attempt that failed and changed nothing leaves the key free.",
      `Kept for at least ${IDEMPOTENCY_DAYS_KEPT} days.`,
      "A CloudEvents envelope at `POST /api/v1/market/meter` needs no header: its `source` and `id` are the key."
    )
  ]
})

export const errorsPart = (): SpecPart => ({
  id: "errors",
  title: "Errors",
  body: [
    said(
      "`application/problem+json` (RFC 9457) that also carries `error`, `code`, `message`, `request_id`, and `details` where there",
      "is more to say: every field at fault with its path. Branch on `code`; `type` is the address of the code's entry in the docs."
    ),
    points(
      "Unknown body fields and unknown query parameters are 422 `VALIDATION_ERROR`, with the nearest known name. Nothing is ignored but `utm_*` parameters.",
      "Free: `input`, `arguments`, `metadata`, `evidence`, JSON Schemas, attributes of a CloudEvents envelope, and the bodies of `POST /api/v1/verify`, webhooks, waitlist, feedback and apply.",
      "A known query parameter with a bad value is 400, and so is one that is there twice. A `limit` above its maximum counts as the maximum."
    ),
    text(jsonText(exampleProblem(422, "VALIDATION_ERROR"))),
    listing(
      "Every status and code",
      ["Status", "Code", "What to do"],
      statuses.flatMap((status) =>
        codesByStatus[status].map((code) => [`${status} ${titles[status]}`, `\`${code}\``, guide[code].remedy])
      )
    )
  ]
})
