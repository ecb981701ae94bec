/**
 * Says on every tab that the account is frozen: since when, why, what that means and how it ends.
 */
import type { KeyRole } from "../kit/Session.browser.ts"
import { Notice } from "./Badge.browser.ts"
import type { ConsoleAccount } from "./ConsoleContext.browser.ts"
import { TimeText } from "./TimeText.browser.ts"
import { h, type View } from "./View.browser.ts"

const MEANINGS: Readonly<Record<KeyRole, string>> = {
  consumer: "Your keys cannot call tools. Calls in progress end as usual, and you can read everything and add funds. ",
  provider:
    "Your tools are not listed and cannot be called, reported calls are rejected, and nothing is paid out. Calls in " +
    "progress are settled, your earnings stay yours, and you can still answer disputes. ",
  operator: ""
}

export interface FreezeNoticeProps {
  readonly role: KeyRole
  readonly account: ConsoleAccount
}

export const FreezeNotice = ({ account, role }: FreezeNoticeProps): View | undefined =>
  typeof account.frozen_at === "string"
    ? h(
        "div",
        { id: "frozen" },
        h(
          Notice,
          { style: "bad" },
          h(
            "p",
            null,
            h("strong", null, "Your account has been frozen since ", h(TimeText, { at: account.frozen_at }), "."),
            ` Reason: ${account.frozen_reason ?? "none was given"}`
          ),
          h("p", null, MEANINGS[role], "To end the freeze, contact the operator of this service.")
        )
      )
    : undefined
