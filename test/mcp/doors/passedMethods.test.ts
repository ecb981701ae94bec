/**
 * Which methods are never passed to providers' servers as requests.
 */
import { assert, it } from "@effect/vitest"
import { isNeverPassed } from "../../../domain/mcp/PassThrough.ts"

it.each([
  "tools/call",
  "Tools/Call",
  "TOOLS/CALL",
  "tools//call",
  "./tools/call",
  "tools.call",
  "initialize",
  "Initialize/",
  "tasks/get",
  "Tasks/get",
  "./tasks/get",
  "notifications/cancelled",
  "NOTIFICATIONS/cancelled",
  "/notifications/x",
  "x/../tools/call",
  "x/../tasks/get",
  "x/./y",
  "x//y",
  "vendor/tools/call",
  "tоols/call",
  "a b",
  "%2e%2e/tools/list"
])("%s is never passed", (method) => {
  assert.isTrue(isNeverPassed(method))
})

it.each(["ping", "tools/list", "resources/read", "subscriptions/listen", "vendor/tasks", "notify", "tasks", "x/call"])(
  "%s may be passed",
  (method) => {
    assert.isFalse(isNeverPassed(method))
  }
)
