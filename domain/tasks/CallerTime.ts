/**
 * The time that a task waits for its caller: from a question until the caller has answered every question that was asked. It
 * is not counted as time of the provider.
 */
import type { DateTime } from "effect"
import { memberOf, membersOf } from "../shared/JsonText.ts"
import type { TaskProgress } from "./CallTask.ts"

type CallerTime = Pick<TaskProgress, "waitedMs" | "waitingSince">

/** Between a question and its answer. */
export const isWaiting = ({ waitingSince }: CallerTime): boolean => waitingSince !== undefined

/** In total, at this time. */
export const waitedMsAt = ({ waitedMs, waitingSince }: CallerTime, at: DateTime.Utc): number =>
  waitedMs + (waitingSince === undefined ? 0 : Math.max(0, at.epochMilliseconds - waitingSince.epochMilliseconds))

/** After its provider said how the task is. While it still shows questions that were answered, it does not wait for them. */
export const timeAfterState = (progress: TaskProgress, state: string, now: DateTime.Utc): CallerTime => {
  const questions = questionsIn(state)
  if (questions === undefined) return stopped(progress, now)
  if (isWaiting(progress)) return timeOf(progress)
  const known = questionsIn(progress.state)
  return known !== undefined && questions.isSubsetOf(known)
    ? timeOf(progress)
    : { waitedMs: progress.waitedMs, waitingSince: now }
}

/** After its provider took these answers. The task goes on waiting if they leave a question open. */
export const timeAfterAnswers = (progress: TaskProgress, answers: string, now: DateTime.Utc): CallerTime =>
  (questionsIn(progress.state) ?? new Set()).isSubsetOf(namesIn(answers)) ? stopped(progress, now) : timeOf(progress)

const stopped = (time: CallerTime, now: DateTime.Utc): CallerTime => ({
  waitedMs: waitedMsAt(time, now),
  waitingSince: undefined
})

const timeOf = ({ waitedMs, waitingSince }: CallerTime): CallerTime => ({ waitedMs, waitingSince })

/** The names of the questions; undefined if it asks none. A name stands for one question in the whole life of a task. */
const questionsIn = (state: string): ReadonlySet<string> | undefined => {
  const asked = memberOf(state, 0, "status") === '"input_required"' ? memberOf(state, 0, "inputRequests") : undefined
  return asked === undefined ? undefined : namesIn(asked)
}

const namesIn = (object: string): ReadonlySet<string> => new Set(membersOf(object).map(({ name }) => name))
