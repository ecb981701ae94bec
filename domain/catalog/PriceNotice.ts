/**
 * When a change of terms takes effect. Better terms for consumers apply at once. Worse ones are announced and apply
 * after the notice period; a smaller free tier applies from the first month after it.
 */
import { DateTime, Duration } from "effect"
import {
  better,
  judgesTheSame,
  noWorse,
  type PriceVersion,
  pricesAt,
  sameTerms,
  type Terms,
  type ToolPrices
} from "./Terms.ts"

/** The versions after a provider requested these terms. `known` is undefined for a new tool. */
export const planPrices = (
  known: ToolPrices | undefined,
  wanted: Terms,
  now: DateTime.Utc,
  notice: Duration.Duration
): ToolPrices => {
  if (known === undefined) {
    const first = { ...wanted, version: 1, announcedAt: now, effectiveFrom: now, replacedAt: undefined }
    return { inEffect: first, upcoming: undefined, lastVersion: 1 }
  }
  const { inEffect: before, lastVersion, upcoming: announced } = pricesAt(known, now.epochMilliseconds)
  const inEffect = withTextsOf(before, wanted)
  const upcoming = announced === undefined ? undefined : withTextsOf(announced, wanted)
  if (sameTerms(wanted, inEffect)) return { inEffect, upcoming: undefined, lastVersion }
  if (upcoming !== undefined && sameTerms(wanted, upcoming)) return { inEffect, upcoming, lastVersion }

  // The clocks of two nodes may differ: the history never goes backward.
  const at = DateTime.max(now, inEffect.effectiveFrom)
  const versions: Array<PriceVersion> = []
  const add = (terms: Terms, effectiveFrom: DateTime.Utc): PriceVersion => {
    const version = lastVersion + versions.length + 1
    // Whether it was announced before or applies at once; stored permanently.
    const announcedAt = DateTime.isLessThanOrEqualTo(effectiveFrom, at) ? effectiveFrom : now
    const added = { ...terms, version, announcedAt, effectiveFrom, replacedAt: undefined }
    versions.push(added)
    return added
  }

  const from = effectiveFrom(inEffect, wanted, at, notice)
  if (DateTime.isLessThanOrEqualTo(from, at)) {
    return { inEffect: add(wanted, at), upcoming: undefined, lastVersion: lastVersion + 1 }
  }
  const atOnce = better(inEffect, wanted)
  const inEffectNow = sameTerms(atOnce, inEffect) ? inEffect : add(atOnce, at)
  // Terms that are not worse than announced ones need no longer notice than these.
  const noticed = upcoming !== undefined && noWorse(wanted, upcoming) ? upcoming.effectiveFrom : from
  const next = add(wanted, DateTime.min(from, noticed))
  return { inEffect: inEffectNow, upcoming: next, lastVersion: lastVersion + versions.length }
}

const effectiveFrom = (inEffect: Terms, wanted: Terms, at: DateTime.Utc, notice: Duration.Duration): DateTime.Utc => {
  if (Duration.isZero(notice) || noWorse(wanted, inEffect)) return at
  const noticed = DateTime.addDuration(at, notice)
  return wanted.freeTierCalls < inEffect.freeTierCalls ? monthFrom(noticed) : noticed
}

/** Texts of an output schema change without notice. */
const withTextsOf = (version: PriceVersion, { outputSchema }: Terms): PriceVersion =>
  outputSchema !== undefined && judgesTheSame(version.outputSchema, outputSchema)
    ? { ...version, outputSchema }
    : version

/** The start of the first calendar month (UTC) that is not before `at`. */
const monthFrom = (at: DateTime.Utc): DateTime.Utc => {
  const month = DateTime.startOf(at, "month")
  return DateTime.Equivalence(month, at) ? at : DateTime.add(month, { months: 1 })
}
