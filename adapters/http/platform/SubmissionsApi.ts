/**
 * Waitlist, feedback and applications: submissions that need no account.
 */
import { Schema, SchemaGetter } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { SUBMISSION_ITEMS_MAX, WAITLIST_SOURCE_CHARS_MAX } from "../../../domain/platform/Submissions.ts"
import { isPlainText, withNewlines } from "../../../domain/shared/PlainText.ts"
import { registration } from "../contract/Access.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Bounded, Email, Line, Name, Text } from "../contract/InputSchemas.ts"
import { takesOtherFields } from "../contract/OtherFields.ts"
import { SUBMISSION_ID } from "../contract/SampleValues.ts"
import { message, nextSteps } from "../contract/SharedFields.ts"

export const JoinWaitlist = Schema.Struct({
  email: Field.of(Email, "Email address; stored in lowercase."),
  source: Field.optional(Line(WAITLIST_SOURCE_CHARS_MAX), "Where you heard of the service.")
}).annotate({
  identifier: "JoinWaitlist",
  description: "An email address for the waitlist.",
  ...takesOtherFields(),
  examples: [{ email: "ada@example.org", source: "docs" }]
})

const storedEmail = Field.string("Email address as stored.", "ada@example.org")
const id = Field.string("ID of the entry.", SUBMISSION_ID)

const Joined = Field.object("WaitlistJoined", "The address was added to the waitlist.", {
  message: message("You are on the waitlist."),
  email: storedEmail,
  id
})
const JoinedBefore = Field.object("WaitlistJoinedBefore", "The address was on the waitlist before.", {
  message: message("This address is on the waitlist already."),
  email: storedEmail
})

/** Items are trimmed; blank ones are dropped. */
const Items = (charsMax: number) =>
  Schema.Array(Bounded(charsMax))
    .check(Schema.isMaxLength(SUBMISSION_ITEMS_MAX))
    .pipe(
      Schema.decodeTo(Schema.Array(Schema.String.check(isPlainText)), {
        decode: SchemaGetter.transform((items: ReadonlyArray<string>) =>
          items.map((item) => withNewlines(item).trim()).filter((item) => item !== "")
        ),
        encode: SchemaGetter.transform((items: ReadonlyArray<string>) => items)
      })
    )

/** May be shown as a link, so nothing but a web address; empty counts as absent. */
const WebAddress = Line(2_000).check(
  Schema.makeFilter((value: string) => {
    const protocol = URL.parse(value)?.protocol
    return value === "" || protocol === "http:" || protocol === "https:"
      ? undefined
      : "must be an http or https address"
  })
)

const isBlank = (text: string | undefined) => text === undefined || text.trim() === ""
const isEmpty = (items: ReadonlyArray<string> | undefined) => items === undefined || items.length === 0

export const GiveFeedback = Field.object("GiveFeedback", "Feedback: at least one of `walls`, `needs` and `message`.", {
  agent_name: Field.optional(Line(200), "Name of the agent."),
  agent_url: Field.optional(WebAddress, "URL of the agent: http or https."),
  contact: Field.optional(Line(320), "How to contact you."),
  walls: Field.optional(Items(1_000), "Obstacles that you met, one per item."),
  needs: Field.optional(Items(1_000), "What you need, one per item."),
  message: Field.optional(Text(10_000), "Message."),
  platform: Field.optional(Line(200), "Platform that the agent runs on."),
  use_case: Field.optional(Text(4_000), "Purpose of the agent.")
})
  .check(
    Schema.makeFilter((body) =>
      isEmpty(body.walls) && isEmpty(body.needs) && isBlank(body.message)
        ? "Send at least one of `walls`, `needs` and `message`."
        : undefined
    )
  )
  .annotate({
    identifier: "GiveFeedback",
    ...takesOtherFields(),
    examples: [
      {
        agent_name: "Research agent",
        walls: ["Most tools want a credit card before the first call"],
        needs: ["A price before the call"],
        message: "Quotes without a call are useful.",
        platform: "MCP"
      }
    ]
  })

export const Apply = Schema.Struct({
  name: Field.of(Name(200), "Your name."),
  contact: Field.of(Name(320), "How to contact you."),
  type: Field.optional(Line(100), "Your role: provider, developer, agent."),
  skills: Field.optional(Items(200), "Your skills, one per item."),
  projects: Field.optional(Items(1_000), "Your projects, one per item."),
  agents: Field.optional(Items(1_000), "Agents that you run, one per item."),
  interest: Field.optional(Text(4_000), "Why you are interested."),
  pitch: Field.optional(Text(10_000), "What you want to build or offer."),
  availability: Field.optional(Text(500), "When you are available.")
}).annotate({
  identifier: "Apply",
  description: "Your application.",
  ...takesOtherFields(),
  examples: [
    {
      name: "Ada",
      contact: "ada@example.org",
      type: "provider",
      skills: ["search"],
      projects: ["A full-text index of public papers"],
      interest: "Selling search by the call"
    }
  ]
})

const Received = Field.object("FeedbackReceived", "The feedback is stored.", {
  received: Field.always(true),
  id,
  message: message("Thank you. Your feedback is stored.")
})

const ApplicationReceived = Field.object("ApplicationReceived", "The application is stored.", {
  received: Field.always(true),
  id,
  message: message("Your application is stored."),
  next_steps: nextSteps
})

export class SubmissionsApi extends HttpApiGroup.make("submissions")
  .add(
    Endpoint.post("joinWaitlist", "/api/v1/waitlist", {
      access: registration,
      summary: "Join the waitlist",
      description: "Returns 201 for a new address and 200 for an address on the list.",
      payload: JoinWaitlist,
      success: [Joined.pipe(HttpApiSchema.status(201)), JoinedBefore]
    }),
    Endpoint.post("giveFeedback", "/api/v1/feedback", {
      access: registration,
      summary: "Give feedback",
      description: "Open to agents and people. Send at least one of `walls`, `needs` and `message`.",
      payload: GiveFeedback,
      success: Received.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.post("apply", "/api/v1/apply", {
      access: registration,
      summary: "Apply for a partnership",
      description: "Send who you are, how to contact you, and what you want to build or offer.",
      payload: Apply,
      success: ApplicationReceived.pipe(HttpApiSchema.status(201))
    }),
    Endpoint.describing("describeWaitlist", "/api/v1/waitlist"),
    Endpoint.describing("describeFeedback", "/api/v1/feedback"),
    Endpoint.describing("describeApply", "/api/v1/apply")
  )
  .annotateMerge(Endpoint.about("Waitlist and feedback", "Waitlist, feedback and applications, without an account.")) {}
