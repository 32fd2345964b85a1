import { useEffect, useState } from 'preact/hooks'
import type { Inspector } from '../../model/shell/inspector.ts'

/**
 * Returns the unsent input for an item that waits, and a function that changes it. A card that comes into sight
 * again has its input back. While the card is there, any input is noted, as a key would decide without it.
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
      if (isAny(next)) deciding.typed.set(key, next)
      else deciding.typed.delete(key)
      return next
    })
  return [draft, change]
}
