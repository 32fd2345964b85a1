import { messageOf } from '../../protocol/errors.ts'
import { advance, agentMachineId, agentSetup } from '../agentSetup.ts'
import type { PrunesOutput, RevertsOutput } from '../agentTypes.ts'
import { applyPrunes, applyReverts, refusePrunes, refuseReverts } from '../brakes.ts'
import { startCompaction } from '../compaction.ts'
import { continueRun, endRun, pauseRun, prunesKey, reachedLimit, revertsKey } from '../runs.ts'
import { pauseForStore } from './idle.ts'

type Reverted = { readonly output: RevertsOutput }
type Pruned = { readonly output: PrunesOutput }
type Failed = { readonly error: unknown }

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
        input: ({ context }) => ({
          agentId: context.agentId,
          key: revertsKey(context),
          requests: context.reverts ?? [],
          turnIndex: Math.max(0, context.turns - 1),
          lastNodeId: context.lastNodeId,
        }),
        onDone: [
          { guard: 'isStaleReverts' },
          { target: 'reverted', actions: advance<Reverted>((draft, { output }) => applyReverts(draft, output)) },
        ],
        onError: {
          target: 'reverted',
          actions: advance<Failed>((draft, { error }) => refuseReverts(draft, messageOf(error))),
        },
      },
    },
    reverted: { always: [{ guard: 'pruneEnabled', target: 'prunes' }, ...exits] },
    prunes: {
      invoke: {
        src: 'drainPrunes',
        id: 'drainPrunes',
        input: ({ context }) => ({ agentId: context.agentId, key: prunesKey(context), requests: context.prunes ?? [] }),
        onDone: [
          { guard: 'isStalePrunes' },
          { target: 'leaving', actions: advance<Pruned>((draft, { output }) => applyPrunes(draft, output)) },
        ],
        onError: {
          target: 'leaving',
          actions: advance<Failed>((draft, { error }) => refusePrunes(draft, messageOf(error))),
        },
      },
    },
    leaving: { always: exits },
  },
})
