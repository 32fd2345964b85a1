/**
 * Selectors of the elements that take the focus when the focused one is gone, the best first; elements that are not drawn or still being
 * loaded do not count.
 */
const places = [
  'dialog[open] button',
  '#overview',
  '.panel [tabindex="0"]:not([role="tab"])',
  '.panel:not(:has(.skeleton))',
  '.home button',
]

/** The element that has the focus by the keyboard, and its ancestors, the innermost first. */
let last: readonly Element[] = []
/** True while the page itself moves the focus: this chooses no row. */
export let isKept = false
/** True while the next suitable element that appears is to have the focus. */
let isWanted = false
/** True while a person goes to the overview, which may not be drawn yet. */
let isOverviewWanted = false

const isDrawn = (element: Element): boolean => element.isConnected && element.getClientRects().length > 0

/**
 * Keeps the focus in sight when the focused element is removed, such as a button that has done its work or a list
 * that another view replaces. The focus goes to the nearest focusable element around it, or else to the list that is
 * shown, once there is one. Returns a function that ends this.
 */
export function keepFocus(): () => void {
  const onMove = ({ type, target }: Event): void => {
    isWanted = false
    isOverviewWanted = false
    // Who points somewhere has left it on purpose.
    last = type === 'focusin' && target instanceof Element ? [target, ...around(target)] : []
  }
  const watch = new MutationObserver(() => {
    if (isOverviewWanted) enterOverview()
    else if (document.activeElement === document.body && (isWanted || last[0]?.isConnected === false)) settle()
  })
  document.addEventListener('focusin', onMove)
  document.addEventListener('pointerdown', onMove, true)
  watch.observe(document.body, { childList: true, subtree: true })
  return () => {
    document.removeEventListener('focusin', onMove)
    document.removeEventListener('pointerdown', onMove, true)
    watch.disconnect()
  }
}

/** Moves the focus out of a field, to the nearest place around it that can have it. */
export function leaveField(field: HTMLElement): void {
  last = [field, ...around(field)]
  field.blur()
  settle()
}

/** Moves the focus to the list that is shown, once there is one, unless another element has it. */
export function focusShown(): void {
  last = []
  settle()
}

/** Moves the focus to the overview, once it is there. As a person asked for it, this chooses a row. */
export function focusOverview(): void {
  isOverviewWanted = true
  enterOverview()
}

function enterOverview(): void {
  const list = document.getElementById('overview')
  if (list === null) return
  isOverviewWanted = false
  // It may have the focus already, without a row that is chosen.
  list.blur()
  list.focus()
}

/** Moves the focus as soon as it is possible: the element that is to have it may not be drawn yet. */
function settle(): void {
  isWanted = true
  const near = last.slice(1).find((element) => element.matches('[tabindex]:not(.panel)') && isDrawn(element))
  const place = near ?? places.flatMap((one) => [...document.querySelectorAll(one)]).find(isDrawn)
  if (!(place instanceof HTMLElement)) return
  isKept = true
  place.focus({ preventScroll: true })
  isKept = false
}

function around(element: Element): Element[] {
  const found: Element[] = []
  for (let at = element.parentElement; at !== null; at = at.parentElement) found.push(at)
  return found
}
