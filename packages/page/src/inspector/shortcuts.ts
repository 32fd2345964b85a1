import { decideShown, hasApprovals } from './model/shell/deciding.ts'
import type { Inspector } from './model/shell/inspector.ts'
import { viewNames } from './model/shell/route.ts'
import { focusOverview, focusShown, leaveField } from './parts/keepFocus.ts'

/** Action of a key. Returns true if the next letters are for a field, which may not be drawn yet. */
type Act = () => unknown

/** Actions of the page that keys can call. */
export interface ShellActions {
  readonly help: Act
  readonly spawn: Act
  readonly compare: Act
  /** Forks at the message that is chosen, or at the newest. */
  readonly fork: Act
  /** Moves the focus to a place of a part of the page. */
  readonly enter: (part: 'agents' | 'agent', id: string) => void
}

/** Longest pause in milliseconds after which further letters still belong to the field that the last letter was typed for. */
const pauseMs = 1_000

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.matches('input:not([type=range]), textarea, select') || target.isContentEditable)

const isLetter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  key.length === 1 && !ctrlKey && !metaKey && !altKey

const isFind = ({ key, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'f' && ctrlKey !== metaKey && !altKey && !shiftKey && !defaultPrevented

/** Returns true if the browser's own search would miss rows: the rows of these views are drawn as they come into sight. */
const findsNothing = ({ agent, route }: Inspector): boolean =>
  agent.value !== null &&
  (route.value.view === 'conversation' || route.value.view === 'timeline') &&
  document.querySelector('dialog[open]') === null

/** Returns the key of the call whose line or card has the focus. */
const focusedCall = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>('[data-pending]')?.dataset['pending']

/** Listens to the keys that work everywhere but in fields and dialogs. Returns a function that stops this. */
export function listenToKeys(inspector: Inspector, actions: ShellActions): () => void {
  const step = (by: number): void => {
    const view = inspector.agent.value?.state.value
    if (view === undefined || view.lastSeq === 0) return
    inspector.isTimeOpen.value = true
    // From what was last asked for: when the key is held it is not shown yet.
    const { at } = inspector.route.value
    inspector.go({ at: Math.max(1, Math.min(view.lastSeq, (at ?? view.lastSeq) + by)) }, 'replace')
  }
  const decide = (what: 'approve' | 'deny' | 'approveTool'): void => {
    // On the overview a key decides the row that is chosen.
    if (inspector.route.value.agent === null) document.getElementById('overview')?.focus()
    // Nobody decides what another part of a narrow page hides.
    else if (document.querySelector('.approvals')?.checkVisibility() === true)
      decideShown(inspector, what, focusedCall())
  }
  const search = (): boolean => {
    const hasAgent = inspector.agent.value !== null
    if (hasAgent) inspector.isSearching.value = true
    // A field that is not there yet takes the focus as it comes.
    actions.enter('agent', hasAgent ? 'search' : 'filter')
    return true
  }
  const keys: Readonly<Record<string, Act>> = {
    '?': actions.help,
    '0': () => {
      const { agent, host } = inspector.route.value
      if (agent !== null || host !== null) inspector.go({ agent: null, host: null })
      focusOverview()
    },
    y: () => decide('approve'),
    Y: () => decide('approveTool'),
    // Nobody waits: the same key starts an agent.
    n: () => (hasApprovals(inspector) ? decide('deny') : actions.spawn()),
    a: () => actions.enter('agents', 'agents'),
    f: actions.fork,
    v: actions.compare,
    p: () => actions.enter('agent', 'prompt'),
    t: () => {
      const isRunning = inspector.agent.value?.state.value.isRunning === true
      inspector.isTimeOpen.value = !(inspector.isTimeOpen.value ?? !isRunning)
    },
    l: () => inspector.go({ at: null }, 'replace'),
    d: () => (inspector.choices.isDrawerOpen.value = !inspector.choices.isDrawerOpen.value),
    e: () => void inspector.showError(1),
    E: () => void inspector.showError(-1),
    // They are there with the requests.
    c: () => document.getElementById('change-after')?.click(),
    C: () => document.getElementById('change-before')?.click(),
    '/': search,
    '[': () => step(-1),
    ']': () => step(1),
    ...Object.fromEntries(viewNames.map((view, index) => [String(index + 1), () => inspector.go({ view })])),
    Escape: () => {
      if (inspector.event.value !== null) inspector.event.value = null
      else if (inspector.node.value !== null) inspector.go({ node: null }, 'replace')
      else if (inspector.route.value.with !== null) inspector.go({ with: null })
      else inspector.choices.isDrawerOpen.value = false
    },
  }
  /** Time of the last letter that was typed into a field, or for one, by its event. */
  let typedAt = -Infinity
  /**
   * Ignores letters as keys while their field is not drawn yet, and after the field has disappeared while a person
   * types, as when another person decided its call.
   */
  const onType = (event: KeyboardEvent): void => {
    const isIn = isTyping(event.target)
    const isMeant = isLetter(event) && (isIn || event.timeStamp - typedAt < pauseMs)
    typedAt = isMeant ? event.timeStamp : -Infinity
    if (isIn || !isMeant) return
    event.preventDefault()
    event.stopPropagation()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isFind(event) && findsNothing(inspector)) {
      // Pressed again, it is the browser's own.
      if (document.activeElement?.id === 'search') return
      event.preventDefault()
      search()
      typedAt = event.timeStamp
      return
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (document.querySelector('dialog[open]') !== null) return
    if (isTyping(event.target)) {
      if (event.key === 'Escape') leaveField(event.target as HTMLElement)
      return
    }
    const act = keys[event.key]
    // A key that is held down is no second decision.
    if (act === undefined || (event.repeat && /^[yYn]$/.test(event.key))) return
    event.preventDefault()
    if (act() === true) typedAt = event.timeStamp
    // It has said where to look: what moves in it shall follow.
    if (/^[1-9[\]]$/.test(event.key) && document.activeElement === document.body) focusShown()
  }
  // Before what a list does with it.
  document.addEventListener('keydown', onType, true)
  document.addEventListener('keydown', onKeyDown)
  return () => {
    document.removeEventListener('keydown', onType, true)
    document.removeEventListener('keydown', onKeyDown)
  }
}
