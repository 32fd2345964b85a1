import { advance, agentMachineId, agentSetup } from '../agentSetup.ts'
import { startCompaction } from '../compaction.ts'
import { continueRun, endRun, pauseRun, prunesKey, reachedLimit, revertsKey } from '../runs.ts'
import { pauseForStore } from './idle.ts'

/** Where a run goes between turns, in order of precedence. */
const exits = [
  { guard: 'storeBroken', target: `#${agentMachineId}.paused`, actions: advance(pauseForStore) },
  {
    guard: 'lowHeadroom',
    target: `#${agentMachineId}.compacting`,
    actions: advance((draft) => startCompaction(draft, 'headroom')),
  },
  {
    guard: 'overLimit',
    target: `#${agentMachineId}.paused`,
    actions: advance((draft) => pauseRun(draft, reachedLimit(draft.context.run!)!)),
  },
  { guard: 'mustReply', target: `#${agentMachineId}.replying`, actions: advance(continueRun) },
  {
    target: `#${agentMachineId}.idle`,
    actions: advance((draft) => endRun(draft, draft.context.run?.lastStopReason ?? 'stop')),
  },
] as const

/** Between turns, with no stream open and no tool running: the only place where the tree may be reshaped. */
export const draining = agentSetup.createStateConfig({
  initial: 'entering',
  states: {
    entering: {
      always: [{ guard: 'revertEnabled', target: 'reverts' }, { guard: 'pruneEnabled', target: 'prunes' }, ...exits],
    },
    reverts: {
      invoke: {
        src: 'drainReverts',
        id: 'drainReverts',
        input: ({ context }) => ({ agentId: context.agentId, key: revertsKey(context) }),
        onDone: [{ guard: 'isStaleReverts' }, { guard: 'pruneEnabled', target: 'prunes' }, { target: 'leaving' }],
        onError: [{ guard: 'pruneEnabled', target: 'prunes' }, { target: 'leaving' }],
      },
    },
    prunes: {
      invoke: {
        src: 'drainPrunes',
        id: 'drainPrunes',
        input: ({ context }) => ({ agentId: context.agentId, key: prunesKey(context) }),
        onDone: [{ guard: 'isStalePrunes' }, { target: 'leaving' }],
        onError: 'leaving',
      },
    },
    leaving: { always: exits },
  },
})
