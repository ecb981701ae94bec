/**
 * Media types besides the one of an endpoint's success schema: what is answered where the caller's `Accept`, or the address,
 * asks for it.
 */
import { EVENT_STREAM } from "../pipeline/WebRequest.ts"
import type { Content, Json, MediaType } from "./OpenApiModel.ts"

/** `answer`: the example of the usual answer. */
export const otherMedia = (operationId: string, status: number, answer: Json): Content =>
  status === 200 ? (MEDIA[operationId]?.(answer) ?? {}) : {}

const text = (description: string, example: string): MediaType => ({ schema: { type: "string", description }, example })

const PROGRESS: Json = { progress: 1, total: 2, message: "Reading the archives" }

const event = (name: string, data: Json): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`

const MEDIA: Readonly<Record<string, (answer: Json) => Content>> = {
  "calls.proxy": (answer) => ({
    [EVENT_STREAM]: text(
      "For callers whose `Accept` names it, where the provider says how far it is before its answer: server-sent events. " +
        "`progress` as often as it says so, with `progress` and, where it gives them, `total` and `message`; last one " +
        "`result` or `problem`, with the body that the answer would have had.",
      [event("progress", PROGRESS), event("result", answer)].join("")
    )
  }),
  "log.proof": () => ({
    "text/plain": text(
      "The proof as `c2sp.org/tlog-proof@v1`, unless `Accept` names `application/json`.",
      "c2sp.org/tlog-proof@v1\nextra …\nindex 0\n\n…"
    )
  }),
  "invoices.find": () => ({
    "text/html": text("With `.html` behind the id: the document as a page.", "<!doctype html>…"),
    "application/pdf": {
      schema: { type: "string", format: "binary", description: "With `.pdf` behind the id: the document as a file." },
      example: "%PDF-1.7 …"
    }
  })
}

/** A problem that an endpoint answers in a form of its own, which existing clients compare word for word. */
export const otherProblem = (operationId: string, status: number): Content =>
  operationId === "receipts.verify" && status === 400
    ? {
        "application/json": {
          schema: {
            type: "object",
            description: "For a body that is no JSON: exactly this.",
            properties: {
              error: { type: "boolean", description: "Always true." },
              code: { type: "string", description: "What is wrong.", enum: ["BAD_REQUEST"] }
            },
            required: ["error", "code"]
          },
          example: { error: true, code: "BAD_REQUEST" }
        }
      }
    : {}
