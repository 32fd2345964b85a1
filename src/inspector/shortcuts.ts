import { decideShown, hasApprovals } from './model/deciding.ts'
import type { Inspector } from './model/inspector.ts'
import { viewNames } from './model/route.ts'
import { focusOverview, focusShown, leaveField } from './parts/keepFocus.ts'

/** What a key can ask of the shell. */
export interface ShellActions {
  readonly help: () => void
  readonly spawn: () => void
  readonly compare: () => void
  /** At the message that is chosen, or at the newest. */
  readonly fork: () => void
  readonly agents: () => void
  readonly prompt: () => void
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.matches('input:not([type=range]), textarea, select') || target.isContentEditable)

const isFind = ({ key, ctrlKey, metaKey, altKey, shiftKey, defaultPrevented }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'f' && ctrlKey !== metaKey && !altKey && !shiftKey && !defaultPrevented

/** Whether what the browser searches is not all there is: the rows of these views are drawn as they come into sight. */
const findsNothing = ({ agent, route }: Inspector): boolean =>
  agent.value !== null &&
  (route.value.view === 'conversation' || route.value.view === 'timeline') &&
  document.querySelector('dialog[open]') === null

/** The call in whose line or card the focus is. */
const focusedCall = (): string | undefined =>
  document.activeElement?.closest<HTMLElement>('[data-pending]')?.dataset['pending']

/** Listens to the keys that work everywhere but in fields and dialogs; returns a function that ends it. */
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
  const search = (): void => {
    if (inspector.agent.value === null) return document.getElementById('filter')?.focus()
    inspector.isSearching.value = true
    requestAnimationFrame(() => document.getElementById('search')?.focus())
  }
  const keys: Readonly<Record<string, () => void>> = {
    '?': actions.help,
    '0': () => {
      if (inspector.route.value.agent !== null) inspector.go({ agent: null })
      focusOverview()
    },
    y: () => decide('approve'),
    Y: () => decide('approveTool'),
    // Nobody waits: the same key starts an agent.
    n: () => {
      if (!hasApprovals(inspector)) actions.spawn()
      else decide('deny')
    },
    a: actions.agents,
    f: actions.fork,
    v: actions.compare,
    p: actions.prompt,
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
  const onKeyDown = (event: KeyboardEvent): void => {
    if (isFind(event) && findsNothing(inspector)) {
      // Pressed again, it is the browser's own.
      if (document.activeElement?.id === 'search') return
      event.preventDefault()
      return search()
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
    act()
    // It has said where to look: what moves in it shall follow.
    if (/^[1-9[\]]$/.test(event.key) && document.activeElement === document.body) focusShown()
  }
  document.addEventListener('keydown', onKeyDown)
  return () => document.removeEventListener('keydown', onKeyDown)
}
