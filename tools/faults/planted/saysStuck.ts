import type { Fault } from '../mutate.ts'

export const faults: readonly Fault[] = [
  {
    id: 'says-stuck-1',
    file: 'packages/policies/src/stuck.ts',
    what: 'the trigger hears only what the newest message calls, which is a result',
    from: 'conversation.node(head.stepId)?.message',
    to: 'head.message',
    tests: ['braking/saysStuck'],
  },
  {
    id: 'says-stuck-2',
    file: 'packages/policies/src/stuck.ts',
    what: 'any call says that the agent is stuck',
    from: '.find(({ name }) => name === toolName)',
    to: '.at(0)',
    tests: ['braking/saysStuck'],
  },
]
