/**
 * Media types that a client can request by `Accept` or by path, besides the one of the endpoint's success schema.
 */
import { EVENT_STREAM } from "../pipeline/WebRequest.ts"
import type { Content, Json, MediaType } from "./OpenApiModel.ts"

/** `answer`: the example of the usual response. */
export const otherMedia = (operationId: string, status: number, answer: Json): Content =>
  status === 200 ? (MEDIA[operationId]?.(answer) ?? {}) : {}

const text = (description: string, example: string): MediaType => ({ schema: { type: "string", description }, example })

const PROGRESS: Json = { progress: 1, total: 2, message: "Reading the archives" }

const event = (name: string, data: Json): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

const MEDIA: Readonly<Record<string, (answer: Json) => Content>> = {
  "calls.proxy": (answer) => ({
    [EVENT_STREAM]: text(
      "With `Accept: text/event-stream`, if the provider reports progress: server-sent events. `progress` has `progress` " +
        "and optionally `total` and `message`. The last event is `result` or `problem`, with the body of the usual response.",
      [event("progress", PROGRESS), event("result", answer)].join("")
    )
  }),
  "log.proof": () => ({
    "text/plain": text(
      "The proof as `c2sp.org/tlog-proof@v1`, unless `Accept` is `application/json`.",
      "c2sp.org/tlog-proof@v1\nextra …\nindex 0\n\n…"
    )
  }),
  "invoices.find": () => ({
    "text/html": text("With `.html` after the ID: the document as HTML.", "<!doctype html>…"),
    "application/pdf": {
      schema: { type: "string", format: "binary", description: "With `.pdf` after the ID: the document as PDF." },
      example: "%PDF-1.7 …"
    }
  })
}

/** A problem in a form of its own, which existing clients compare byte for byte. */
export const otherProblem = (operationId: string, status: number): Content =>
  operationId === "receipts.verify" && status === 400
    ? {
        "application/json": {
          schema: {
            type: "object",
            description: "For a body that is not JSON: exactly this.",
            properties: {
              error: { type: "boolean", description: "Always true." },
              code: { type: "string", description: "Error code.", enum: ["BAD_REQUEST"] }
            },
            required: ["error", "code"]
          },
          example: { error: true, code: "BAD_REQUEST" }
        }
      }
    : {}
