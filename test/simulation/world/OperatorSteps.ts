/**
 * Steps of the operator between those of a plan. Each kind is drawn apart, so that the other steps of a seed stay the same.
 */
import { type Random, randomFrom } from "../../../testing/Random.ts"
import type { Step } from "./Step.ts"

const ANY = 1_000_000
/** Before how many steps the operator sets the fee of a provider. */
const FEE_PERCENT = 4
const FEE_SALT = 0xfee5
/** Before how many steps the operator freezes or unfreezes an account. */
const FREEZE_PERCENT = 2
const FREEZE_SALT = 0xf2ee
/** So that few accounts are frozen at a time. */
const LIFTED_PERCENT = 60

type MaybeFault = (random: Random) => Pick<Step, "fault">
type Plan = ReadonlyArray<Step>

/** `opening`: no account is frozen before so many steps. */
export const withOperator = (seed: number, plan: Plan, opening: number, maybeFault: MaybeFault): Plan =>
  withFreezes(seed, withFees(seed, plan, maybeFault), opening, maybeFault)

const withFees = (seed: number, plan: Plan, maybeFault: MaybeFault): Plan => {
  const random = randomFrom(seed ^ FEE_SALT)
  const feeStep = (): Step => ({
    act: {
      _tag: "Fee",
      provider: random.below(ANY),
      basisPoints: random.percent(20) ? null : random.pick([0, 1, 500, 1_000, 1_234, 3_333, 5_000])
    },
    ...maybeFault(random),
    thenMs: 0
  })
  return plan.flatMap((step) => (random.percent(FEE_PERCENT) ? [feeStep(), step] : [step]))
}

const withFreezes = (seed: number, plan: Plan, opening: number, maybeFault: MaybeFault): Plan => {
  const random = randomFrom(seed ^ FREEZE_SALT)
  const freezeStep = (): Step => ({
    act: { _tag: "Freeze", who: random.below(ANY), lifts: random.percent(LIFTED_PERCENT) },
    ...maybeFault(random),
    thenMs: 0
  })
  return plan.flatMap((step, n) => (n >= opening && random.percent(FREEZE_PERCENT) ? [freezeStep(), step] : [step]))
}
