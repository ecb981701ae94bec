/**
 * Steps from a seed: mostly calls, everything else in between, and rings that try to steal.
 */
import { answering, flooding, joiningToAnswer } from "../adversaries/Answers.ts"
import { RINGS_MAX, closingOf, schemeOf } from "../adversaries/Schemes.ts"
import { withOperator } from "./OperatorSteps.ts"
import { type Random, randomFrom, weighted } from "../../../testing/Random.ts"
import type { Act, Behavior, Call, Fault, Job, Step } from "./Step.ts"
import type { ToolTerms } from "../books/ToolTerms.ts"

const SECOND = 1_000
const HOUR = 3_600 * SECOND
const ANY = 1_000_000
/** As many again have one that never comes: less is asked of ports than it waits for. */
const FAULTY_PERCENT = 35
/** How many steps are moves of a ring. */
const RING_PERCENT = 40
const RING_FAULTY_PERCENT = 10
/** Before how many steps another ring calls a tool that asks for input. */
const ANSWER_PERCENT = 5
const ANSWER_SALT = 0xa25e
const ANSWERING_RING = RINGS_MAX
/** Before how many steps it leaves many calls waiting. */
const FLOOD_PERCENT = 2
const FLOOD_SALT = 0xf100d

export const planOf = (seed: number, steps: number): ReadonlyArray<Step> => {
  const random = randomFrom(seed)
  const plan: Array<Step> = OPENING.map((act) => ({ act, thenMs: 100 }))
  let scheme: ReadonlyArray<Step> = []
  while (plan.length < steps) {
    if (!random.percent(RING_PERCENT)) {
      plan.push(stepOf(random))
      continue
    }
    const [move, ...others] = scheme.length === 0 ? schemeOf(random) : scheme
    plan.push(random.percent(RING_FAULTY_PERCENT) ? { ...move!, fault: faultOf(random) } : move!)
    scheme = others
  }
  const answered = withAnswers(seed, withOperator(seed, plan, OPENING.length, maybeFault))
  return [...withFloods(seed, answered).slice(0, steps), ...closingOf(random)]
}

/** Drawn apart as well. */
const withFloods = (seed: number, plan: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const random = randomFrom(seed ^ FLOOD_SALT)
  const floodStep = (): Step => ({ ...flooding(random, ANSWERING_RING), ...maybeFault(random) })
  const isEarly = (place: number) => place < OPENING.length + joiningToAnswer(ANSWERING_RING).length
  return plan.flatMap((step, place) =>
    !isEarly(place) && random.percent(FLOOD_PERCENT) ? [floodStep(), step] : [step]
  )
}

/** Drawn apart, so that the other steps of a seed stay the same. It joins after the opening, when there are tools to call. */
const withAnswers = (seed: number, plan: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const random = randomFrom(seed ^ ANSWER_SALT)
  const answerStep = (): Step => {
    const step = answering(random, ANSWERING_RING)
    return random.percent(FAULTY_PERCENT) ? { ...step, fault: faultOf(random) } : step
  }
  const rest = plan.slice(OPENING.length)
  return [
    ...plan.slice(0, OPENING.length),
    ...joiningToAnswer(ANSWERING_RING),
    ...rest.flatMap((step) => (random.percent(ANSWER_PERCENT) ? [answerStep(), step] : [step]))
  ]
}

const maybeFault = (random: Random): Pick<Step, "fault"> =>
  random.percent(FAULTY_PERCENT) ? { fault: faultOf(random) } : {}

const tool = (price: number, more: Partial<ToolTerms> = {}): ToolTerms => ({
  price,
  freeCalls: 0,
  policy: "success",
  ...more
})

/** So that there are tools to call, and consumers with funds. */
const OPENING: ReadonlyArray<Act> = [
  { _tag: "Provider", tools: [tool(12_345), tool(1_999_999, { most: 150 })] },
  { _tag: "Consumer" },
  { _tag: "Provider", tools: [tool(777, { freeCalls: 3 }), tool(5_005, { policy: "attempt" })] },
  { _tag: "Consumer" },
  { _tag: "Connect", provider: 0, automatic: true },
  { _tag: "Load", who: 0, cents: 50_000, keyed: false },
  { _tag: "Load", who: 1, cents: 20_000, keyed: true },
  { _tag: "Checkout", which: 0, fate: "paid" },
  { _tag: "Checkout", which: 0, fate: "paid" },
  { _tag: "Webhook", which: 0, copies: 1, answerLost: false },
  { _tag: "Webhook", which: 0, copies: 1, answerLost: false }
]

const stepOf = (random: Random): Step => {
  const act = weighted(random, ACTS)(random)
  const thenMs = weighted(random, PAUSES)(random)
  return random.percent(FAULTY_PERCENT) ? { act, fault: faultOf(random), thenMs } : { act, thenMs }
}

const PAUSES: ReadonlyArray<readonly [number, (random: Random) => number]> = [
  [70, (random) => random.below(800)],
  [20, (random) => random.below(20 * SECOND)],
  [6, (random) => random.below(3 * 60 * SECOND)],
  [3, (random) => random.below(5 * HOUR)],
  [1, (random) => random.below(4 * 24 * HOUR)]
]

const faultOf = (random: Random): Fault => ({
  kind: weighted(random, [
    [3, "error_before"],
    [3, "error_after"],
    [2, "late_before"],
    [2, "late_after"],
    [1, "crash_before"],
    [1, "crash_after"]
  ]),
  at: random.below(weighted(random, [[2, 4] as const, [2, 10] as const, [1, 25] as const])),
  ms: random.below(random.percent(80) ? 3 * SECOND : 40 * SECOND)
})

const behavior = (random: Random): Behavior => ({
  outcome: weighted(random, [
    [16, "success"],
    [2, "tool_error"],
    [1, "unreachable"],
    [1, "rate_limited"]
  ]),
  latencyMs: weighted(random, [
    [10, random.below(300)],
    [3, random.below(8 * SECOND)],
    [1, random.below(30 * SECOND)]
  ]),
  ...(random.percent(30) ? { reports: random.below(200) } : {})
})

const call = (random: Random): Call => ({
  _tag: "Call",
  who: random.below(ANY),
  tool: random.below(ANY),
  keyed: random.percent(60),
  times: weighted(random, [
    [8, 1],
    [1, 2],
    [1, 5]
  ]),
  provider: behavior(random),
  ...(random.percent(6) ? { goesAwayAfterMs: random.below(5 * SECOND) } : {}),
  ...(random.percent(50) ? { cap: random.percent(70) ? 100 : random.below(120) } : {})
})

const job = (name: Job) => (): Act => ({ _tag: "Job", job: name })

/** From next to nothing to some dollars: payouts begin at ten. */
const priceOf = (random: Random): number =>
  random.below(
    weighted(random, [
      [1, 20],
      [2, 50_000],
      [3, 5_000_000]
    ])
  )

const newcomer = (random: Random): Act =>
  random.percent(60)
    ? { _tag: "Consumer" }
    : {
        _tag: "Provider",
        tools: Array.from({ length: 1 + random.below(2) }, () =>
          tool(priceOf(random), {
            freeCalls: random.percent(30) ? random.below(4) : 0,
            policy: random.percent(80) ? "success" : "attempt",
            ...(random.percent(30) ? { most: 100 + random.below(200) } : {})
          })
        )
      }

const ACTS: ReadonlyArray<readonly [number, (random: Random) => Act]> = [
  [300, call],
  [40, (random) => ({ _tag: "Repeat", which: random.below(ANY) })],
  [60, (random) => ({ _tag: "Again", which: random.below(ANY), changed: random.percent(15) })],
  [
    30,
    (random) => ({
      _tag: "Meter",
      who: random.below(ANY),
      tool: random.below(ANY),
      keyed: random.percent(60),
      ok: random.percent(80)
    })
  ],
  [
    10,
    (random) => ({
      _tag: "Grant",
      who: random.below(ANY),
      provider: random.below(ANY),
      cap: random.below(random.percent(50) ? 500_000 : 30_000_000),
      period: random.pick(["day", "month", "total"])
    })
  ],
  [2, (random) => ({ _tag: "Revoke", which: random.below(ANY) })],
  [40, (random) => ({ _tag: "Bill", who: random.below(ANY), tool: random.below(ANY), percent: random.below(160) })],
  [
    45,
    (random) => ({
      _tag: "Load",
      who: random.below(ANY),
      cents: random.percent(50) ? 100 + random.below(900) : random.below(40_000) + 100,
      keyed: random.percent(50)
    })
  ],
  [
    50,
    (random) => ({
      _tag: "Checkout",
      which: random.below(ANY),
      fate: weighted(random, [
        [8, "paid"],
        [1, "failed"],
        [1, "expired"]
      ])
    })
  ],
  [
    90,
    (random) => ({
      _tag: "Webhook",
      which: random.below(ANY),
      copies: random.percent(80) ? 1 : 2,
      answerLost: random.percent(10)
    })
  ],
  [
    12,
    (random) => ({
      _tag: "TakeBack",
      which: random.below(ANY),
      cause: random.percent(50) ? "refund" : "dispute",
      percent: 1 + random.below(100)
    })
  ],
  [8, (random) => ({ _tag: "BringBack", which: random.below(ANY) })],
  [35, (random) => ({ _tag: "File", which: random.below(ANY), byProvider: random.percent(20) })],
  [20, (random) => ({ _tag: "Respond", which: random.below(ANY), action: random.percent(40) ? "accept" : "contest" })],
  [
    20,
    (random) => ({
      _tag: "Resolve",
      which: random.below(ANY),
      resolution: random.pick(["resolved_refund", "resolved_denied", "resolved_credit"]),
      percent: random.below(110)
    })
  ],
  [8, (random) => ({ _tag: "Connect", provider: random.below(ANY), automatic: random.percent(50) })],
  [25, (random) => ({ _tag: "Payout", provider: random.below(ANY), keyed: random.percent(50) })],
  [6, (random) => ({ _tag: "TransferBack", which: random.below(ANY), percent: 1 + random.below(100) })],
  [6, (random) => ({ _tag: "Correct", which: random.below(ANY), percent: 1 + random.below(100) })],
  [
    12,
    (random) => ({
      _tag: "Mood",
      about: random.pick(["checkouts", "accounts", "transfers", "transfers", "refunds"]),
      moods: Array.from({ length: 1 + random.below(3) }, () => random.pick(["refused", "lost"]))
    })
  ],
  [8, (random) => ({ _tag: "Restrict", provider: random.below(ANY), restricted: random.percent(50) })],
  [6, (random) => ({ _tag: "RotateKey", who: random.below(ANY), graceHours: random.pick([0, 24, 500]) })],
  [10, (random) => ({ _tag: "Prove", which: random.below(ANY) })],
  [12, newcomer],
  [8, (random) => ({ _tag: "Price", tool: random.below(ANY), price: priceOf(random) })],
  [
    6,
    (random) => ({
      _tag: "Budget",
      who: random.below(ANY),
      cap: random.below(20_000_000),
      period: random.pick(["day", "month", "total"])
    })
  ],
  [70, job("sequence")],
  [40, job("sweep")],
  [25, job("payouts")],
  [20, job("disputes")],
  [15, job("claims")],
  [20, job("reconcile")],
  [12, job("invoices")],
  [5, job("automatic")],
  [3, job("prune")],
  [5, job("standings")],
  [5, job("prices")],
  [15, job("withdrawals")],
  [15, job("fees")],
  [5, job("freezes")],
  [8, () => ({ _tag: "Crash" })],
  [6, (random) => ({ _tag: "Skew", ms: random.below(4 * 60 * SECOND) - 2 * 60 * SECOND })],
  [5, () => ({ _tag: "MonthEnd" })]
]
