import { useEffect, useState } from 'preact/hooks'

/** There is room for one part of the page only; as in the styles. */
export const narrow = '(max-width: 760px)'
/** There is no room for details beside an agent; as in the styles. */
export const tight = '(max-width: 1180px)'

/** Whether the window is as a media query says. */
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
