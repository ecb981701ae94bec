/**
 * The payment processor's webhooks. The signature covers the body as it was sent.
 */
import { Effect } from "effect"
import { PaymentEvents } from "../../../domain/processor/PaymentEvents.ts"
import { PayoutsApi } from "./PayoutsApi.ts"
import { storedBody } from "../pipeline/RequestBody.ts"
import { route } from "../pipeline/Route.ts"
import { header } from "../pipeline/WebRequest.ts"

export const webhookRoutes = Effect.gen(function* () {
  const events = yield* PaymentEvents

  return [
    route(
      PayoutsApi.endpoints.stripeWebhook,
      function* ({ request, text }) {
        const outcome = yield* events.receive(text, header(request, "stripe-signature") ?? "")
        return { received: true as const, outcome }
      },
      { body: { ...storedBody, anyText: true, emptyIsObject: false } }
    )
  ]
})
