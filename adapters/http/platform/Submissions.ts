/**
 * Waitlist, feedback and applications over HTTP.
 */
import { Effect } from "effect"
import { Submissions, Waitlist } from "../../../domain/platform/Submissions.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { replyRoute, route } from "../pipeline/Route.ts"
import { SubmissionsApi } from "./SubmissionsApi.ts"

const { endpoints } = SubmissionsApi

export const submissionsRoutes = Effect.gen(function* () {
  const waitlist = yield* Waitlist
  const submissions = yield* Submissions
  const baseUrl = yield* BaseUrl

  return [
    replyRoute(endpoints.joinWaitlist, function* ({ payload: { email, source } }) {
      const id = yield* waitlist.join(email, source ?? "")
      return id === undefined
        ? { status: 200, body: { message: "This address is on the waitlist already.", email } }
        : { status: 201, body: { message: "You are on the waitlist.", email, id } }
    }),
    route(endpoints.giveFeedback, function* ({ payload }) {
      const { id } = yield* submissions.submit("feedback", payload)
      return { received: true as const, id, message: "Thank you. Your feedback is stored." }
    }),
    route(endpoints.apply, function* ({ payload }) {
      const { id } = yield* submissions.submit("application", payload)
      return {
        received: true as const,
        id,
        message: "Your application is stored.",
        next_steps: [
          `Agents register with POST ${baseUrl}/api/market/register-consumer`,
          `Providers register with POST ${baseUrl}/api/market/register-provider`
        ]
      }
    })
  ]
})
