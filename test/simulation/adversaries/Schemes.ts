/**
 * The schemes of rings: moves in an order that would pay off with a fault. Other steps come in between, and each may fail.
 */
import type { Random } from "../../../testing/Random.ts"
import type { Act, Job, Step } from "../world/Step.ts"
import type { ToolTerms } from "../books/ToolTerms.ts"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const ANY = 1_000_000
const CENT = 10_000
const DOLLAR = 100 * CENT
export const RINGS_MAX = 3

/** The moves of one attempt, until the next one begins. */
export const schemeOf = (random: Random): ReadonlyArray<Step> =>
  random.pick(SCHEMES)({ ring: random.below(RINGS_MAX), who: random.below(ANY), random })

interface In {
  readonly ring: number
  /** Whose money it begins with. */
  readonly who: number
  readonly random: Random
}

type Scheme = (of: In) => ReadonlyArray<Step>

const soon = (act: Act): Step => ({ act, thenMs: 50 })
const after = (act: Act, thenMs: number): Step => ({ act, thenMs })
const work = (...jobs: ReadonlyArray<Job>): ReadonlyArray<Step> => jobs.map((job) => soon({ _tag: "Job", job }))
/** Nothing happens but that time passes. */
const wait = ({ random }: In): Step =>
  after({ _tag: "Job", job: "sequence" }, random.pick([0, HOUR, 25 * HOUR, 8 * DAY, 31 * DAY]))

const tool = (price: number, more: Partial<ToolTerms> = {}): ToolTerms => ({
  price,
  freeCalls: 0,
  policy: "success",
  ...more
})

/** So dear that a load is spent in a few calls. */
const dear = ({ random }: In): ToolTerms => tool(random.pick([20, 60, 150]) * DOLLAR + random.below(100))

const joins = ({ ring }: In, consumers: number, ...tools: ReadonlyArray<ToolTerms>): Step =>
  soon({ _tag: "RingJoins", ring, consumers, tools })
const loads = ({ random, ring, who }: In): Step =>
  soon({ _tag: "RingLoads", ring, who, cents: 10_000 + random.below(90_000) })
const buys = ({ random, ring, who }: In, times: number): ReadonlyArray<Step> =>
  Array.from({ length: times }, () =>
    soon({ _tag: "RingBuys", ring, who, tool: random.below(ANY), times: 1 + random.below(4) })
  )
const cashesOut = ({ ring }: In): ReadonlyArray<Step> => [soon({ _tag: "RingCashesOut", ring }), ...work("payouts")]
const disputes = ({ random, ring }: In): Step =>
  soon({ _tag: "RingDisputes", ring, times: 1 + random.below(5), accepts: random.percent(80) })
const chargesBack = (
  { random, ring }: In,
  ...stages: ReadonlyArray<"open" | "withdraw" | "win" | "lose">
): ReadonlyArray<Step> =>
  stages.map((stage) =>
    soon({ _tag: "RingChargesBack", ring, which: random.below(ANY), stage, told: random.percent(80) })
  )
const withdraws = ({ random, ring, who }: In): Step =>
  soon({ _tag: "RingWithdraws", ring, who, percent: random.pick([30, 100, 100, 150]) })

/** Money goes round: spent at its own provider, paid out, disputed, spent again. */
const carousel: Scheme = (of) => [
  joins(of, 2, dear(of), dear(of)),
  loads(of),
  ...buys(of, 4),
  wait(of),
  ...cashesOut(of),
  disputes(of),
  disputes(of),
  ...buys(of, 3),
  wait(of),
  ...cashesOut(of),
  disputes(of),
  disputes(of),
  ...buys(of, 2),
  ...cashesOut(of)
]

const LONGER_THAN_NEW = 92 * DAY
const LONGER_THAN_MATURING = 9 * DAY

const waitFor = (ms: number): Step => after({ _tag: "Job", job: "sequence" }, ms)

/** A provider that is no longer new is paid out sooner than its calls can be disputed. */
const sleepers: Scheme = (of) => [
  joins(of, 2, dear(of), dear(of)),
  waitFor(LONGER_THAN_NEW),
  loads(of),
  ...buys(of, 4),
  waitFor(LONGER_THAN_MATURING),
  ...cashesOut(of),
  disputes(of),
  disputes(of),
  ...buys(of, 2),
  ...(of.random.percent(50) ? work("claims") : []),
  waitFor(LONGER_THAN_MATURING),
  ...cashesOut(of),
  disputes(of),
  ...buys(of, 1)
]

/** Spent and paid out, then taken back at the bank. */
const chargebackScheme: Scheme = (of) => [
  joins(of, 2, dear(of)),
  loads(of),
  loads(of),
  ...buys(of, 4),
  ...(of.random.percent(50) ? cashesOut(of) : []),
  wait(of),
  ...cashesOut(of),
  ...chargesBack(of, "open"),
  ...buys(of, 2),
  ...chargesBack(of, "withdraw"),
  ...buys(of, 1),
  ...chargesBack(of, of.random.pick(["win", "lose"])),
  ...buys(of, 2),
  wait(of),
  ...cashesOut(of)
]

/** The same call is disputed with the service and at the bank; also a call of another provider's tool. */
const twofold: Scheme = (of) => [
  joins(of, 1, dear(of)),
  loads(of),
  ...buys(of, 2),
  ...(of.random.percent(50) ? [disputes(of)] : []),
  soon({
    _tag: "RingLeaves",
    ring: of.ring,
    who: of.who,
    tool: of.random.below(ANY),
    times: 3,
    afterMs: 5_000,
    latencyMs: 10
  }),
  ...chargesBack(of, "open", "withdraw"),
  disputes(of),
  soon({ _tag: "RingSmears", ring: of.ring, tool: of.random.below(ANY), by: "disputes", times: 3 }),
  wait(of),
  ...work("disputes"),
  ...chargesBack(of, of.random.pick(["win", "lose"])),
  disputes(of),
  ...cashesOut(of)
]

/** A consumer sees a price and is charged another. */
const baiting: Scheme = ({ random, ring, who }) => {
  const serves = (reports: number, more: { readonly fails?: boolean; readonly capped?: boolean } = {}): Step =>
    soon({
      _tag: "RingServes",
      ring,
      who: random.below(ANY),
      tool: random.below(ANY),
      reports,
      fails: more.fails ?? false,
      capped: more.capped ?? false
    })
  const baits = (terms: Partial<ToolTerms>): Step => soon({ _tag: "RingBaits", ring, tool: random.below(ANY), terms })
  const low = random.below(2 * CENT)
  const high = (1 + random.below(9)) * DOLLAR
  return [
    joins({ random, ring, who }, 1, tool(low), tool(0, { maximum: random.percent(70) ? high : 0 })),
    serves(100),
    serves(100),
    baits({ price: high }),
    serves(100),
    serves(100),
    baits(random.percent(50) ? { maximum: 2 * high } : { policy: "attempt" }),
    serves(100, { fails: random.percent(50) }),
    serves(150, { capped: true }),
    after({ _tag: "Job", job: "sequence" }, random.pick([HOUR, 25 * HOUR])),
    serves(100, { fails: random.percent(50) }),
    baits({ price: low, policy: "success" }),
    serves(100),
    baits({ price: high }),
    serves(100)
  ]
}

/** Work for nothing: the caller is gone before the answer comes. */
const hangUps: Scheme = (of) => [
  joins(of, 2),
  loads(of),
  ...Array.from({ length: 5 }, () => {
    const latencyMs = 100 + of.random.below(4_000)
    const afterMs = Math.floor((latencyMs * of.random.below(110)) / 100)
    const act = {
      who: of.random.below(ANY),
      tool: of.random.below(ANY),
      times: 1 + of.random.below(4),
      afterMs,
      latencyMs
    }
    return after({ _tag: "RingLeaves", ring: of.ring, ...act }, 5_000)
  }),
  ...work("sequence", "standings")
]

/** Another's figures are made to look bad, and one's own good. */
const smearing: Scheme = (of) => [
  joins(of, 4, tool(CENT, { freeCalls: 3 })),
  ...buys(of, 4),
  loads(of),
  soon({
    _tag: "RingLeaves",
    ring: of.ring,
    who: of.who,
    tool: of.random.below(ANY),
    times: 4,
    afterMs: 5_000,
    latencyMs: 10
  }),
  soon({ _tag: "RingSmears", ring: of.ring, tool: of.random.below(ANY), by: "reports", times: 5 }),
  soon({ _tag: "RingSmears", ring: of.ring, tool: of.random.below(ANY), by: "disputes", times: 5 }),
  ...work("sequence", "standings"),
  soon({ _tag: "RingSmears", ring: of.ring, tool: of.random.below(ANY), by: "reports", times: 5 }),
  ...work("sequence", "standings", "disputes")
]

/** What was loaded is asked back, more than once or also at the bank. */
const withdrawals: Scheme = (of) => [
  joins(of, 1, dear(of)),
  loads(of),
  loads(of),
  ...buys(of, 1),
  withdraws(of),
  ...(of.random.percent(50) ? [disputes(of)] : []),
  withdraws(of),
  ...chargesBack(of, "open", "withdraw"),
  withdraws(of),
  ...chargesBack(of, "win"),
  withdraws(of),
  wait(of),
  ...cashesOut(of)
]

/** Paid funds are spent at its own provider, the operator credits the calls, and the credit is withdrawn as cash. */
const cashing: Scheme = (of) => [
  joins(of, 1, dear(of)),
  loads(of),
  ...buys(of, 5),
  soon({ _tag: "RingDisputes", ring: of.ring, times: 5, accepts: false }),
  ...Array.from({ length: 8 }, () =>
    soon({ _tag: "Resolve", which: of.random.below(ANY), resolution: "resolved_credit", percent: 20 })
  ),
  soon({ _tag: "RingWithdraws", ring: of.ring, who: of.who, percent: 100 }),
  soon({ _tag: "RingWithdraws", ring: of.ring, who: of.who, percent: 30 })
]

/** The end of every plan: it comes last, so that the other steps of a seed stay the same. */
export const closingOf = (random: Random): ReadonlyArray<Step> =>
  cashing({ ring: RINGS_MAX + 1, who: random.below(ANY), random })

const SCHEMES: ReadonlyArray<Scheme> = [
  carousel,
  sleepers,
  sleepers,
  chargebackScheme,
  twofold,
  baiting,
  hangUps,
  smearing,
  withdrawals
]
