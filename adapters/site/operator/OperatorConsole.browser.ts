/**
 * The operator's console: its tabs, in the order of the navigation.
 */
import type { ConsoleSession, SignInProps } from "../console/ConsoleContext.browser.ts"
import { startConsole } from "../console/ConsoleShell.browser.ts"
import { keyField, SignInForm } from "../console/SignInForm.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { ApiError, request } from "../kit/ApiRequest.browser.ts"
import { OPERATOR, type Session } from "./lists/OperatorLists.browser.ts"

// The operator's session: a cookie that no script can read. The key is sent once, at the sign-in, and kept nowhere.

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

const operatorSession: ConsoleSession = {
  current,
  form: SignIn,
  end: async () => {
    await request("DELETE", PATH, SESSION)
  }
}

startConsole({
  role: "operator",
  session: operatorSession,
  path: "/operator",
  name: "Operator console",
  tabs: [
    { path: "overview", title: "Overview", load: () => import("./overview/OperatorOverviewTab.browser.ts") },
    { path: "disputes", title: "Disputes", load: () => import("./disputes/OperatorDisputesTab.browser.ts") },
    { path: "accounts", title: "Accounts", load: () => import("./accounts/AccountsTab.browser.ts") },
    { path: "payouts", title: "Payouts", load: () => import("./payouts/OperatorPayoutsTab.browser.ts") },
    { path: "losses", title: "Losses and claims", load: () => import("./losses/LossesTab.browser.ts") },
    { path: "log", title: "Log and witness", load: () => import("./log/LogTab.browser.ts") },
    { path: "jobs", title: "Jobs", load: () => import("./jobs/JobsTab.browser.ts") },
    { path: "audit", title: "Audit trail", load: () => import("./audit/AuditTab.browser.ts") }
  ]
})
