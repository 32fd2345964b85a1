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
  {
    id: 'reshaping-3',
    file: 'src/conversation/prune.ts',
    what: 'a refusal repeats all that the model gave',
    from: 'cutEnd(name, 40)',
    to: 'name',
    tests: ['conversation/limitsOfBrakes'],
  },
  {
    id: 'reshaping-4',
    file: 'src/conversation/prune.ts',
    what: 'a refusal has a reason for each of a thousand steps',
    from: 'reasons.slice(0, mostReasons)',
    to: 'reasons.slice()',
    tests: ['conversation/limitsOfBrakes'],
  },
  {
    id: 'reshaping-5',
    file: 'src/conversation/noteTokens.ts',
    what: 'old lessons that are still shown are not counted',
    from: 'if (placed.isShown ?? !isOld)',
    to: 'if (!isOld)',
    tests: ['conversation/costOfNotes'],
  },
  {
    id: 'reshaping-6',
    file: 'src/runtime/agents/agentHost.ts',
    what: 'the conversation is not told which notes a request shows',
    from: 'if (shownTags !== undefined && shownTags !== before) this.conversation.showTags(shownTags)',
    to: '',
    tests: ['conversation/costOfNotes'],
  },
]
