/**
 * The answer of a call as a stream of events, which the contract's schemas cannot say.
 */
import { EVENT_STREAM } from "../pipeline/WebRequest.ts"
import type { Content, Json } from "./OpenApiModel.ts"

const PROGRESS: Json = { progress: 1, total: 2, message: "Reading the archives" }

/** `answer`: what it would be without a stream. */
export const callStream = (answer: Json): Content => ({
  [EVENT_STREAM]: {
    schema: {
      type: "string",
      description:
        "For callers whose `Accept` names it, where the provider says how far it is before its answer: server-sent events. " +
        "`progress` as often as it says so, with `progress` and, where it gives them, `total` and `message`; last one " +
        "`result` or `problem`, with the body that the answer would have had."
    },
    example: [event("progress", PROGRESS), event("result", answer)].join("")
  }
})

const event = (name: string, data: Json): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
