import type { Fault } from '../mutate.ts'

const tests = ['inspector/shell/badInputInChromium']

/** Slips in what the page does with more agents, and worse logs, than one thinks of. */
export const faults: readonly Fault[] = [
  {
    id: 'badInput-1',
    file: 'packages/page/src/inspector/views/sessions/home.tsx',
    what: 'who goes to the first row does not see the heading above it',
    from: 'scrollTo={at === 1 ? 0 : at}',
    to: 'scrollTo={at}',
    tests,
  },
  {
    id: 'badInput-2',
    file: 'packages/page/src/inspector/views/agent/failed.tsx',
    what: 'a damaged log is not called so',
    from: "LOG_CORRUPT: 'This log is damaged',",
    to: '',
    tests,
  },
  {
    id: 'badInput-3',
    file: 'packages/charts/src/amounts.ts',
    what: 'less than no time has passed where a clock was put back',
    from: 'return `${Math.max(0, Math.round(ms))} ms`',
    to: 'return `${Math.round(ms)} ms`',
    tests,
  },
]
