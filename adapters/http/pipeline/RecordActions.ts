/**
 * Records what the operator changes, in one unit of work with the change. A replay changes nothing and is not recorded.
 */
import { Effect } from "effect"
import { actorOf } from "../../../domain/accounts/Principal.ts"
import { AuditTrail } from "../../../domain/operator/AuditTrail.ts"
import type { RequestContext, Stage } from "./RequestContext.ts"

export const makeRecordActions = Effect.map(AuditTrail, ({ audited, record }): Stage => {
  return (context, next) => {
    const { caller, clientAddress: address, pathParams, route } = context
    const { action } = route.rule
    if (action === undefined || caller?.role !== "operator") return next(context)
    const entry = {
      action,
      actor: actorOf(caller),
      sessionId: caller.session?.id,
      address,
      subject: Object.values(pathParams)[0],
      reason: reasonIn(context),
      details: detailsIn(context)
    }
    if (route.rule.idempotent) return audited(next(context), entry)
    // It commits in units of work of its own, and some of them before a client disconnects or the time is up.
    return next(context).pipe(
      Effect.tap(() => record(entry)),
      Effect.onInterrupt(() => Effect.ignoreCause(record(entry)))
    )
  }
})

/** A long text must not push an amount or a decision out of the details. */
const TEXT_CHARS_MAX = 500

/** As it was read: white space and repeated members cannot hide what was done. */
const detailsIn = ({ text }: RequestContext): string | undefined =>
  text.trim() === "" ? undefined : JSON.stringify(JSON.parse(text), shortened)

const shortened = (_name: string, value: unknown): unknown =>
  typeof value === "string" && value.length > TEXT_CHARS_MAX ? `${value.slice(0, TEXT_CHARS_MAX)}…` : value

/** Bodies call it `reason`, or `note` in a decision. */
const reasonIn = ({ payload }: RequestContext): string | undefined => {
  const { note, reason } = (payload ?? {}) as { readonly note?: unknown; readonly reason?: unknown }
  const said = reason ?? note
  return typeof said === "string" && said !== "" ? said : undefined
}
