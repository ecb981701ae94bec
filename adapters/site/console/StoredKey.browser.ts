/**
 * The key of this browser tab, as a component sees it: shown anew when the reader signs in or out.
 */
import { useEffect, useState } from "preact/hooks"
import { KEY_CHANGED, type Role, storedKey } from "../kit/Session.browser.ts"

export const useStoredKey = (role: Role): string | undefined => {
  const [key, setKey] = useState(() => storedKey(role))
  useEffect(() => {
    const read = () => setKey(storedKey(role))
    addEventListener(KEY_CHANGED, read)
    return () => removeEventListener(KEY_CHANGED, read)
  }, [role])
  return key
}
