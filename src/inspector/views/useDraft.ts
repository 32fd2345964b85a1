import { useEffect, useState } from 'preact/hooks'
import type { Inspector } from '../model/inspector.ts'

/**
 * What a person types for what waits, and how it is changed: a card that comes into sight again has it as it was. While the card is there
 * it is noted whether there is any, as a key would decide without it.
 */
export function useDraft<T extends object>(
  { deciding }: Inspector,
  key: string,
  { none, isAny }: { readonly none: T; readonly isAny: (draft: T) => boolean },
): [T, (change: Partial<T>) => void] {
  const [draft, setDraft] = useState(() => (deciding.typed.get(key) as T | undefined) ?? none)
  const isDraft = isAny(draft)
  useEffect(() => {
    deciding.draft(key, isDraft)
    return () => deciding.draft(key, false)
  }, [deciding, key, isDraft])
  const change = (part: Partial<T>): void =>
    setDraft((before) => {
      const next = { ...before, ...part }
      deciding.typed.set(key, next)
      return next
    })
  return [draft, change]
}
