/**
 * The operator's session: a cookie that no script can read. The key is sent once, at the sign-in, and kept nowhere.
 */
import type { ConsoleSession, SignInProps } from "../console/ConsoleContext.browser.ts"
import { keyField, SignInForm } from "../console/SignInForm.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { ApiError, request } from "../kit/ApiRequest.browser.ts"
import { OPERATOR } from "./lists/OperatorLists.browser.ts"
import type { Session } from "./lists/OperatorResponses.browser.ts"

const PATH = `${OPERATOR}/session`
const SESSION = { sendsCookie: true } as const

const accountOf = ({ name, session_id: id }: Session) => ({ id: id ?? "", name })

const current = async () => {
  try {
    return accountOf(await request<Session>("GET", PATH, SESSION))
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined
    throw error
  }
}

const FIELDS = [
  {
    name: "name",
    label: "Your name",
    hint: "The audit trail shows it beside everything that you change.",
    properties: { autocomplete: "name", maxLength: 100 }
  },
  keyField(
    "Operator key",
    "Value of OPERATOR_KEY. It is not kept: the session ends after 8 hours, or after an hour without a request."
  )
]

const SignIn = ({ entered, error }: SignInProps): View =>
  h(SignInForm, {
    error,
    fields: FIELDS,
    submit: "Sign in",
    enter: async (body) => {
      entered(accountOf(await request<Session>("POST", PATH, { ...SESSION, body })))
      return undefined
    }
  })

export const operatorSession: ConsoleSession = {
  current,
  form: SignIn,
  end: async () => {
    await request("DELETE", PATH, SESSION)
  }
}
