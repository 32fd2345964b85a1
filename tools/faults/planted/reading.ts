import type { Fault } from '../mutate.ts'

/** Faults of what people read and answer: turns, forms, lists of agents, and what stands still. */
export const faults: readonly Fault[] = [
  {
    id: 'reading-1',
    file: 'packages/page/src/inspector/model/conversation/nodePlace.ts',
    what: 'results of a step that is not over are called abandoned',
    from: `if (conversation.node(id) === undefined) return 'open'`,
    to: '',
    tests: ['conversation/nodePlace'],
  },
  {
    id: 'reading-2',
    file: 'packages/page/src/inspector/model/shell/route.ts',
    what: 'the address counts turns from 0, the page from 1',
    from: `parts.set('turn', String(turn + 1))`,
    to: `parts.set('turn', String(turn))`,
    tests: ['inspector/agent/model-parts'],
  },
  {
    id: 'reading-3',
    file: 'packages/cli/src/terminal/input/form.ts',
    what: 'an Enter meant for something else answers a form',
    from: 'state.isTouched ? answered(state, fields) : state',
    to: 'answered(state, fields)',
    tests: ['cli/test/input/form'],
  },
  {
    id: 'reading-4',
    file: 'packages/cli/src/terminal/input/form.ts',
    what: 'a hyphen beside other input declines a form',
    from: 'filled.length === 1 ? (refusal',
    to: 'filled.length >= 1 ? (refusal',
    tests: ['cli/test/input/form'],
  },
  {
    id: 'reading-5',
    file: 'packages/cli/src/chat/agentList.ts',
    what: 'an agent below which something waits is listed as one that works',
    from: '(agent.pending ?? agent.pendingApprovals).length > 0',
    to: 'factsOf(agent).waits',
    tests: ['cli/test/agentList'],
  },
  {
    id: 'reading-6',
    file: 'packages/cli/src/sessions/openSession.ts',
    what: 'files of the own agent cannot be taken back',
    from: '    snapshots: true,\n',
    to: '',
    tests: ['cli/test/ownAgent'],
  },
  {
    id: 'reading-7',
    file: 'packages/page/src/inspector/model/sessions/causes.ts',
    what: 'a failure that one agent has is offered as one of several',
    from: 'leastWaiting : 2)',
    to: 'leastWaiting : 1)',
    tests: ['inspector/sessions/causes.test'],
  },
  {
    id: 'reading-8',
    file: 'packages/bridge/src/client/questionForm.ts',
    what: 'a number above the limit of its field is sent',
    from: 'if (most !== undefined && value > most) return `at most ${most}`',
    to: '',
    tests: ['client/questionForm'],
  },
]
