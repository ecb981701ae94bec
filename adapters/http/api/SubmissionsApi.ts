/**
 * What people and agents send in without an account: an address for the waitlist, feedback, an application.
 */
import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { SUBMISSION_ITEMS_MAX } from "../../../domain/platform/Submissions.ts"
import { WAITLIST_SOURCE_CHARS_MAX } from "../../../domain/platform/Waitlist.ts"
import { Access, publicRead, registration } from "./Access.ts"
import { Email, Name, Text } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { takesOtherFields } from "./OtherFields.ts"
import { problems } from "./Problem.ts"
import { SelfDescription } from "./SelfDescription.ts"

export const JoinWaitlist = Schema.Struct({
  email: Email,
  source: Schema.optionalKey(Text(WAITLIST_SOURCE_CHARS_MAX))
}).annotate({
  identifier: "JoinWaitlist",
  ...takesOtherFields(),
  examples: [{ email: "ada@example.org", source: "docs" }]
})

const Joined = Schema.Struct({ message: Schema.String, email: Schema.String, id: Schema.String }).annotate({
  identifier: "WaitlistJoined"
})
const JoinedBefore = Schema.Struct({ message: Schema.String, email: Schema.String }).annotate({
  identifier: "WaitlistJoinedBefore"
})

/** Trimmed; what is blank says nothing and is left out. */
const Items = (charsMax: number) =>
  Schema.Array(Schema.String.check(Schema.isMaxLength(charsMax)))
    .check(Schema.isMaxLength(SUBMISSION_ITEMS_MAX))
    .pipe(
      Schema.decodeTo(Schema.Array(Schema.String), {
        decode: SchemaGetter.transform((items: ReadonlyArray<string>) =>
          items.map((item) => item.trim()).filter((item) => item !== "")
        ),
        encode: SchemaGetter.transform((items: ReadonlyArray<string>) => items)
      })
    )

/** Shown to people as a link one day, so nothing but a web address. */
const WebAddress = Text(2_000).check(
  Schema.makeFilter((value: string) => {
    const protocol = URL.parse(value)?.protocol
    return value === "" || protocol === "http:" || protocol === "https:"
      ? undefined
      : "must be an http or https address"
  })
)

const isBlank = (text: string | undefined) => text === undefined || text.trim() === ""
const isEmpty = (items: ReadonlyArray<string> | undefined) => items === undefined || items.length === 0

export const GiveFeedback = Schema.Struct({
  agent_name: Schema.optionalKey(Text(200)),
  agent_url: Schema.optionalKey(WebAddress),
  contact: Schema.optionalKey(Text(320)),
  walls: Schema.optionalKey(Items(1_000)),
  needs: Schema.optionalKey(Items(1_000)),
  message: Schema.optionalKey(Text(10_000)),
  platform: Schema.optionalKey(Text(200)),
  use_case: Schema.optionalKey(Text(4_000))
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
        message: "The quote in dry run is what we were missing.",
        platform: "MCP"
      }
    ]
  })

export const Apply = Schema.Struct({
  name: Name(200),
  contact: Name(320),
  type: Schema.optionalKey(Text(100)),
  skills: Schema.optionalKey(Items(200)),
  projects: Schema.optionalKey(Items(1_000)),
  agents: Schema.optionalKey(Items(1_000)),
  interest: Schema.optionalKey(Text(4_000)),
  pitch: Schema.optionalKey(Text(10_000)),
  availability: Schema.optionalKey(Text(500))
}).annotate({
  identifier: "Apply",
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

const Received = Schema.Struct({
  received: Schema.Literal(true),
  id: Schema.String,
  message: Schema.String
}).annotate({ identifier: "FeedbackReceived" })

const ApplicationReceived = Schema.Struct({
  ...Received.fields,
  next_steps: Schema.Array(Schema.String)
}).annotate({ identifier: "ApplicationReceived" })

const describing = (identifier: "describeWaitlist" | "describeFeedback" | "describeApply", path: `/${string}`) =>
  HttpApiEndpoint.get(identifier, path, { success: SelfDescription, error: problems() })
    .annotate(Access, publicRead)
    .annotateMerge(
      OpenApi.annotations({
        summary: `How to use POST ${path}`,
        description: `The same path describes itself: what POST ${path} does, and the JSON Schema of its body.`
      })
    )

const refusals = problems(400, 401, 409, 413, 415, 422)

export class SubmissionsApi extends HttpApiGroup.make("submissions")
  .add(
    HttpApiEndpoint.post("joinWaitlist", "/api/v1/waitlist", {
      headers: idempotencyHeader,
      payload: JoinWaitlist,
      success: [Joined.pipe(HttpApiSchema.status(201)), JoinedBefore],
      error: refusals
    })
      .annotate(Access, registration)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Join the waitlist",
          description: "The address is kept in lower case, once: 201 the first time, 200 from then on."
        })
      ),
    HttpApiEndpoint.post("giveFeedback", "/api/v1/feedback", {
      headers: idempotencyHeader,
      payload: GiveFeedback,
      success: Received.pipe(HttpApiSchema.status(201)),
      error: refusals
    })
      .annotate(Access, registration)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Give feedback",
          description:
            "From agents and people alike: the walls that you ran into, what you need, or a message. At least one of the three."
        })
      ),
    HttpApiEndpoint.post("apply", "/api/v1/apply", {
      headers: idempotencyHeader,
      payload: Apply,
      success: ApplicationReceived.pipe(HttpApiSchema.status(201)),
      error: refusals
    })
      .annotate(Access, registration)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Apply to work with the platform",
          description: "Who you are, how to reach you, and what you would like to build or offer."
        })
      ),
    describing("describeWaitlist", "/api/v1/waitlist"),
    describing("describeFeedback", "/api/v1/feedback"),
    describing("describeApply", "/api/v1/apply")
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Waitlist and feedback",
      description: "What anybody may send in, with or without an account."
    })
  ) {}
