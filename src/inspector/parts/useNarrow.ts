import { useEffect, useState } from 'preact/hooks'

/** As in shell.css. */
const narrow = '(max-width: 760px)'

/** Whether there is room for one part of the page only. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(narrow).matches)
  useEffect(() => {
    const query = matchMedia(narrow)
    const look = (): void => setNarrow(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return isNarrow
}
