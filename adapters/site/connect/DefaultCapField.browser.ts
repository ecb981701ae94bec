/**
 * The default cap of an account: asked for at the registration, and where a client is connected, because a model that calls a
 * usage-priced tool cannot always send a cap.
 */
import type { Field } from "../console/InputForm.browser.ts"
import { invalid } from "../kit/ApiRequest.browser.ts"
import { DEFAULT_CAP_DOLLARS, dollarsInput, INVALID_PRICE, parseDollars } from "../kit/Format.browser.ts"

export const DEFAULT_CAP = "default_cap_microcents"

export const defaultCapField = (cap?: number): Field => ({
  name: DEFAULT_CAP,
  label: "Most that one call may cost, in dollars",
  type: "number",
  value: cap === undefined ? DEFAULT_CAP_DOLLARS : dollarsInput(cap),
  optional: true,
  hint: "The default cap of usage-priced tools; a call can name another one. If empty, each call of such a tool must name one."
})

/** Returns undefined if the field is empty. */
export const defaultCapIn = ({ [DEFAULT_CAP]: text = "" }: Readonly<Record<string, string>>): number | undefined => {
  if (text === "") return undefined
  const cap = parseDollars(text)
  if (cap === undefined) throw invalid({ [DEFAULT_CAP]: INVALID_PRICE })
  return cap
}
