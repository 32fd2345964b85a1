import type { Fault } from '../mutate.ts'

const keep = 'src/inspector/parts/keepFocus.ts'
const tests = ['inspector/journeysInChromium']

/** Slips in what a person meets who uses the page by keys alone. */
export const faults: readonly Fault[] = [
  {
    id: 'keyboard-1',
    file: keep,
    what: 'the focus is nowhere once what had it is gone',
    from: ' || last[0]?.isConnected === false',
    to: '',
    tests,
  },
  {
    id: 'keyboard-2',
    file: keep,
    what: 'after a decision the focus leaves what else waits',
    from: "element.matches('[tabindex]:not(.panel)') && isDrawn(element)",
    to: 'false',
    tests,
  },
  {
    id: 'keyboard-3',
    file: 'src/inspector/shortcuts.ts',
    what: 'a key shows another view, where no other key does anything',
    from: 'if (/^[1-9[\\]]$/.test(event.key) && document.activeElement === document.body) focusShown()',
    to: '',
    tests,
  },
  {
    id: 'keyboard-4',
    file: keep,
    what: 'Escape in a field leads nowhere',
    from: 'field.blur()\n  settle()',
    to: 'field.blur()',
    tests,
  },
  {
    id: 'keyboard-5',
    file: 'src/inspector/views/conversationPane.tsx',
    what: 'no message is active in a conversation that gets the focus',
    from: 'goTo(rows.length - 1)',
    to: '{}',
    tests,
  },
  {
    id: 'keyboard-6',
    file: 'src/inspector/shortcuts.ts',
    what: 'nothing is looked for on the overview',
    from: "return document.getElementById('filter')?.focus()",
    to: 'return',
    tests,
  },
  {
    id: 'keyboard-7',
    file: 'src/inspector/parts/controlButton.tsx',
    what: 'a double click decides two calls',
    from: ' && detail < 2',
    to: '',
    tests,
  },
  {
    id: 'keyboard-8',
    file: 'src/inspector/parts/useDrawer.ts',
    what: 'a drawer opens, and the focus stays below it',
    from: 'pane.current?.focus()',
    to: '',
    tests: ['inspector/shellInChromium'],
  },
  {
    id: 'keyboard-9',
    file: 'src/inspector/parts/useDrawer.ts',
    what: 'a drawer closes, and the focus does not go back to where it was',
    from: 'if (before.current instanceof HTMLElement && isInside) before.current.focus()',
    to: '',
    tests: ['inspector/shellInChromium'],
  },
  {
    id: 'keyboard-10',
    file: 'src/inspector/parts/useDrawer.ts',
    what: 'going through what a search found, or through a list, one is thrown out of it',
    from: ` || activeElement?.closest('[role="listbox"], textarea, input') != null`,
    to: '',
    tests,
  },
  {
    id: 'keyboard-11',
    file: 'src/inspector/model/followedAgent.ts',
    what: 'what was said to an agent at work is seen nowhere until it is read',
    from: 'queues: fold.conversation.queues,',
    to: 'queues: { steering: [], followUps: [], prompts: [] },',
    tests,
  },
  {
    id: 'keyboard-12',
    file: 'src/inspector/views/home.tsx',
    what: 'who comes back to the overview has chosen a call without a wish to',
    from: ' && !isKept',
    to: '',
    tests,
  },
]
