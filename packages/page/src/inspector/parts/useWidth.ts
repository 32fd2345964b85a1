import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** Returns the width of an element in pixels, before its first frame and whenever it changes; 0 while it is not there. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  const { current } = element
  useLayoutEffect(() => {
    if (element.current === null) return undefined
    const measured = element.current
    const measure = (): void => setWidth(measured.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(measured)
    return () => observer.disconnect()
  }, [element, current === null])
  return width
}
