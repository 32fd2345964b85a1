import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'start-1',
    file: 'src/conversation/characters.ts',
    what: 'a segmenter is made when the library is imported',
    from: 'const segmenter = lazily(() => new Intl.Segmenter())',
    to: 'const made = new Intl.Segmenter()\nconst segmenter = () => made',
    tests: ['runtime/start.test'],
  },
  {
    id: 'start-2',
    file: 'src/conversation/lookAlikes.ts',
    what: 'what characters look like is worked out when the library is imported',
    from: 'const pages: (Uint8Array | undefined)[] = []',
    to: 'const pages: (Uint8Array | undefined)[] = []\nqueueMicrotask(firstPage)',
    tests: ['runtime/start.test'],
  },
  {
    id: 'start-3',
    file: 'src/conversation/markers.ts',
    what: 'all that follows the beginning of a mark is worked out when the library is imported',
    from: '    this.#numbers = new Map([[nothing.join(), 0]])',
    to: '    this.#numbers = new Map([[nothing.join(), 0]])\n    this.next(0, less)',
    tests: ['runtime/start.test'],
  },
  {
    id: 'start-4',
    file: 'src/cli/runCli.ts',
    what: 'the help loads the runtime',
    from: `import { stopForGood } from './signals.ts'`,
    to: `import { stopForGood } from './signals.ts'\nimport '../runtime.ts'`,
    tests: ['runtime/start.test'],
  },
  {
    id: 'start-5',
    file: 'src/actors/tools/workspace/runCommand.ts',
    what: 'the library loads what starts processes',
    from: `import type { Approval } from './approval.ts'`,
    to: `import './processGroup.ts'\nimport type { Approval } from './approval.ts'`,
    tests: ['runtime/start.test'],
  },
]
