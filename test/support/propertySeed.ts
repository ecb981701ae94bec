/**
 * Property tests draw the same values in every run, so that chance does not decide whether a run passes. Other
 * values: `PROPERTY_SEED=7 npm test`.
 */
import { Context, Random } from "effect"

export const PROPERTY_SEED = Number(process.env["PROPERTY_SEED"] ?? 17)

// A property test without a seed takes its seed from here. Delays, which use other draws, stay random.
Object.assign(Context.get(Context.empty(), Random.Random), { nextIntUnsafe: () => PROPERTY_SEED })
