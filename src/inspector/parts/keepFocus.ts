/** Where the focus goes when what had it is gone, the best first; what is not drawn does not count, nor what is still being loaded. */
const places = [
  'dialog[open] button',
  '#overview',
  '.panel [tabindex="0"]:not([role="tab"])',
  '.panel:not(:has(.skeleton))',
  '.home button',
]

/** What has the focus by the keyboard, and all it lies in, the innermost first. */
let last: readonly Element[] = []
/** The focus is being moved by nobody's wish: nothing is chosen by that. */
export let isKept = false
/** What comes next shall have the focus. */
let isWanted = false
/** Somebody goes to the overview, which may still be on its way. */
let isOverviewWanted = false

const isDrawn = (element: Element): boolean => element.isConnected && element.getClientRects().length > 0

/**
 * Keeps the focus in sight as what has it is taken away, such as a button that has done what it was for or a list that another view
 * replaces: it goes to the nearest place around it that can have it, else to the list that is shown, once there is one. Returns a
 * function that ends it.
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

/** Moves the focus to the list that is shown, once there is one, where nothing else has it. */
export function focusShown(): void {
  last = []
  settle()
}

/** Moves the focus to the overview, once it is there: as somebody wishes it, a row is chosen by that. */
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

/** Tries until it is done: what shall have the focus may still be on its way. */
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
