import type { Signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { narrow, tight, useMedia } from './useMedia.ts'

/**
 * Makes a pane a drawer where there is no room beside its subject: it opens when something is `chosen` and closes when the choice ends. The
 * focus goes into it and, once it is closed, back to where it was; it does not leave a list, in which one moves by arrows. Returns true
 * while the pane is a drawer.
 */
export function useDrawer(isOpen: Signal<boolean>, chosen: unknown, pane: RefObject<HTMLElement | null>): boolean {
  const isTight = useMedia(tight)
  const isNarrow = useMedia(narrow)
  const isDrawer = isTight && !isNarrow
  const before = useRef<Element | null>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    // Going through what a search found must not cover it.
    if (document.activeElement?.id !== 'search') isOpen.value = chosen !== null
  }, [chosen, isOpen])
  const isShown = isDrawer && isOpen.value
  useEffect(() => {
    const wasFirst = isFirst.current
    isFirst.current = false
    const { activeElement } = document
    if (isShown) {
      if (wasFirst || activeElement?.closest('[role="listbox"], textarea, input') != null) return
      before.current = activeElement
      pane.current?.focus()
      return
    }
    const isInside = activeElement === document.body || pane.current?.contains(activeElement) === true
    if (before.current instanceof HTMLElement && isInside) before.current.focus()
    before.current = null
  }, [isShown, pane])
  return isDrawer
}
