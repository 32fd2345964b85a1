import {
  elementScroll,
  measureElement,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core'
import { useLayoutEffect, useReducer, useState } from 'preact/hooks'

type Own = 'scrollToFn' | 'observeElementRect' | 'observeElementOffset' | 'measureElement' | 'onChange'

/** Which rows of a scrolling element are in view, rendered again when that changes. */
export function useVirtualizer(
  options: Omit<VirtualizerOptions<HTMLElement, HTMLElement>, Own>,
): Virtualizer<HTMLElement, HTMLElement> {
  const [, draw] = useReducer((drawn: number, _: void) => drawn + 1, 0)
  const whole = {
    ...options,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    measureElement,
    onChange: () => draw(),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(whole))
  virtualizer.setOptions(whole)
  // oxlint-disable-next-line no-underscore-dangle -- Adapters call it so: there is no other name.
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer])
  // oxlint-disable-next-line no-underscore-dangle -- As above.
  useLayoutEffect(() => virtualizer._willUpdate())
  return virtualizer
}
