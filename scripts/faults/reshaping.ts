import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'reshaping-1',
    file: 'src/conversation/brakeRendering.ts',
    what: 'the index is made anew for each hidden step',
    from: 'if (this.#index?.epoch !== epoch) this.#index =',
    to: 'this.#index =',
    tests: ['conversation/costOfNotes'],
  },
  {
    id: 'reshaping-2',
    file: 'src/conversation/brakeRendering.ts',
    what: 'the first index is shown for good',
    from: 'if (this.#index?.epoch !== epoch) this.#index =',
    to: 'this.#index ??=',
    tests: ['conversation/costOfNotes'],
  },
]
