import { useEffect, useState } from 'preact/hooks'

/** Media query of a window with room for one part of the page only; as in the styles. */
export const narrow = '(max-width: 760px)'
/** Media query of a window without room for details beside an agent; as in the styles. */
export const tight = '(max-width: 1180px)'

/** Returns true while the window matches a media query. */
export function useMedia(query: string): boolean {
  const [is, set] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const look = (): void => set(list.matches)
    look()
    list.addEventListener('change', look)
    return () => list.removeEventListener('change', look)
  }, [query])
  return is
}
