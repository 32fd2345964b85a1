import { useEffect } from 'preact/hooks'
import type { Inspector } from '../model/inspector.ts'

/** Notes whether a person has typed something for what waits: a key would decide it without that, and it would be lost with its card. */
export function useDraft({ deciding }: Inspector, key: string, isDraft: boolean): void {
  useEffect(() => {
    deciding.draft(key, isDraft)
    return () => deciding.draft(key, false)
  }, [deciding, key, isDraft])
}
