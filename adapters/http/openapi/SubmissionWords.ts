/**
 * Words of the waitlist, of feedback and of applications.
 */
import { describing } from "./CatalogWords.ts"
import type { Words } from "./Vocabulary.ts"

const ID = "0193fa07-91a2-74c5-b6e7-f8091a2b3c4d"

export const submissionWords: Words = {
  "JoinWaitlist.": ["An address for the waitlist."],
  "JoinWaitlist.email": ["Where to reach you. Kept in lower case."],
  "JoinWaitlist.source": ["Where you heard of us."],
  "WaitlistJoined.": ["The address is on the list now."],
  "WaitlistJoined.id": ["The entry.", ID],
  "WaitlistJoined.email": ["The address as it is kept.", "ada@example.org"],
  "WaitlistJoined.message": ["What happened, in a sentence for people.", "You are on the waitlist."],
  "WaitlistJoinedBefore.": ["The address was on the list before."],
  "WaitlistJoinedBefore.email": ["The address as it is kept.", "ada@example.org"],
  "WaitlistJoinedBefore.message": [
    "What happened, in a sentence for people.",
    "This address is on the waitlist already."
  ],

  "GiveFeedback.": ["What you have to say: at least one of walls, needs and message."],
  agent_name: ["What the agent is called."],
  agent_url: ["Where there is more about it: an http or https address."],
  contact: ["How to reach you."],
  walls: ["What you ran into, one thing each."],
  needs: ["What you need, one thing each."],
  "GiveFeedback.message": ["Anything else."],
  platform: ["What the agent runs on."],
  "GiveFeedback.use_case": ["What it is for."],
  "FeedbackReceived.": ["The feedback is kept."],
  "FeedbackReceived.received": ["Always true."],
  "ApplicationReceived.received": ["Always true."],
  "FeedbackReceived.id": ["What it is kept under.", ID],
  "FeedbackReceived.message": ["What happened, in a sentence for people.", "Thank you. Your feedback is here."],

  "Apply.": ["Who you are, and what you would like to do."],
  "Apply.name": ["Your name."],
  "Apply.type": ["As what: a provider, a developer, an agent."],
  skills: ["What you are good at, one thing each."],
  projects: ["What you have made, one each."],
  agents: ["Agents that you run, one each."],
  interest: ["What draws you here."],
  pitch: ["What you would like to build or offer."],
  availability: ["When you have time."],
  "ApplicationReceived.": ["The application is kept."],
  "ApplicationReceived.id": ["What it is kept under.", ID],
  "ApplicationReceived.message": ["What happened, in a sentence for people.", "Your application is here."],

  "submissions.describeWaitlist.200": describing("/api/v1/waitlist", "Join the waitlist", "email"),
  "submissions.describeFeedback.200": describing("/api/v1/feedback", "Give feedback", "message"),
  "submissions.describeApply.200": describing("/api/v1/apply", "Apply to work with the platform", "name")
}
