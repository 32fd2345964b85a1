import { messageOf } from '../../protocol/errors.ts'
import { advance, agentMachineId, agentSetup } from '../agentSetup.ts'
import type { AgentContext, EventOfType } from '../agentTypes.ts'
import type {
  ConsultInput,
  ConsultOutput,
  FoldOutput,
  GraftsOutput,
  PinsOutput,
  PrunesOutput,
  RevertsInput,
  RevertsOutput,
  StallCheck,
  UndoOutput,
} from '../drainTypes.ts'
import {
  applyFold,
  applyGrafts,
  applyPins,
  applyPrunes,
  applyReverts,
  beginDrain,
  beginUnasked,
  drainKey,
  foldKey,
  refuseGrafts,
  refusePins,
  refusePrunes,
  refuseReverts,
} from '../brakes.ts'
import { refuseCompactions, startCompaction } from '../compaction.ts'
import { lowHeadroom, mustReply } from '../guards.ts'
import { reachedLimit } from '../limits.ts'
import {
  askedSoFar,
  beginConsultation,
  cancelConsultation,
  consultKey,
  endConsultation,
  refusePolicies,
  startPolicy,
} from '../policies.ts'
import {
  beginAnswer,
  continueRun,
  dropResuming,
  finishRun,
  pauseForDeadline,
  pauseForStore,
  pauseRun,
} from '../runs.ts'
import { applyUndo, endUndo, failUndo, undoInput } from '../undoing.ts'
import { applyStall, pauseForStall, stallKey, stallRevertId } from '../stalls.ts'

type Checked = { readonly output: StallCheck }
type Pinned = { readonly output: PinsOutput }
type Reverted = { readonly output: RevertsOutput }
type Grafted = { readonly output: GraftsOutput }
type Pruned = { readonly output: PrunesOutput }
type Folded = { readonly output: FoldOutput }
type Consulted = { readonly output: ConsultOutput }
type Undone = { readonly output: UndoOutput }
type Failed = { readonly error: unknown }

/** Where a run goes between turns, in order of precedence. */
const exits = [
  { guard: 'storeBroken', target: `#${agentMachineId}.paused`, actions: advance(pauseForStore) },
  // Pins requested before a compaction hold against it.
  { guard: 'pinRequested', target: `#${agentMachineId}.draining.pins` },
  {
    guard: 'compactRequested',
    target: `#${agentMachineId}.compacting`,
    actions: advance((draft) => startCompaction(draft, 'requested')),
  },
  {
    guard: 'lowHeadroom',
    target: `#${agentMachineId}.compacting`,
    actions: advance((draft) => startCompaction(draft, 'headroom')),
  },
  { guard: 'answersPrepared', target: `#${agentMachineId}.preparing`, actions: advance(beginAnswer) },
  { guard: 'answersAtLimit', target: `#${agentMachineId}.replying`, actions: advance(beginAnswer) },
  {
    guard: 'overLimit',
    target: `#${agentMachineId}.paused`,
    actions: advance((draft) => pauseRun(draft, reachedLimit(draft.context.run!)!)),
  },
  { guard: 'repliesPrepared', target: `#${agentMachineId}.preparing`, actions: advance(continueRun) },
  { guard: 'mustReply', target: `#${agentMachineId}.replying`, actions: advance(continueRun) },
  { target: `#${agentMachineId}.idle`, description: 'done', actions: advance(finishRun) },
] as const

const brakes = [
  { guard: 'revertEnabled', target: 'reverts' },
  { guard: 'graftRequested', target: 'grafts' },
  { guard: 'pruneEnabled', target: 'prunes' },
] as const

/** Before the exits, and so before the one for headroom: folded steps need no summary. Policies go before built-in measures. */
const onwards = [
  { guard: 'consultEnabled', target: 'consulting' },
  { guard: 'foldEnabled', target: 'folding' },
  ...exits,
] as const

const unreverted = [
  { guard: 'graftRequested', target: 'grafts' },
  { guard: 'pruneEnabled', target: 'prunes' },
  ...onwards,
] as const

/** Requests go before the runtime's own measures. */
const requests = [{ guard: 'pinRequested', target: 'pins' }, ...brakes, ...onwards] as const

/** Returns the prospect after a drain, by which reverts that would not pay yet are held back or not. */
function outlookOf(context: AgentContext): RevertsInput['outlook'] {
  const subject = { context, event: { type: 'wake' } } as const
  if (lowHeadroom(subject)) return 'crowded'
  return mustReply(subject) ? 'goesOn' : 'ends'
}

const consulted = advance<Consulted>((draft, { output }) => endConsultation(draft, output))

const requestOf = ({ policyRequests, drained }: AgentContext): Pick<ConsultInput, 'request'> => {
  const request = policyRequests?.find(({ id }) => drained.includes(id))
  return request === undefined ? {} : { request }
}

/** Between turns, with no stream open and no tool running: the only place where the tree may be reshaped. */
export const draining = agentSetup.createStateConfig({
  description: 'Between turns: the only place where the conversation may be reshaped.',
  initial: 'entering',
  // At rest there is no run to settle: an abort just ends the drain.
  on: {
    abort: [
      { guard: 'isRunning', target: 'settling' },
      {
        target: 'idle',
        actions: advance((draft) => {
          endUndo(draft, 'it was aborted')
          refuseReverts(draft, 'it was aborted')
          refuseGrafts(draft, 'it was aborted')
          refusePrunes(draft, 'it was aborted')
          refuseCompactions(draft, 'it was aborted')
          // Also before it has fired: it is not asked anew at once.
          cancelConsultation(draft, 'aborted')
          refusePolicies(draft, 'it was aborted')
          dropResuming(draft)
        }),
      },
    ],
  },
  states: {
    entering: {
      always: [{ guard: 'undoPending', target: 'undoing' }, { guard: 'stallEnabled', target: 'checking' }, ...requests],
    },
    // First, so that the revert that ends a stall is decided in this drain.
    checking: {
      entry: advance(beginUnasked),
      invoke: {
        src: 'drainStall',
        id: 'drainStall',
        input: ({ context }) => ({
          agentId: context.agentId,
          key: stallKey(context),
          revertId: stallRevertId(context),
          reverts: context.reverts,
        }),
        onDone: [
          { guard: 'isStaleStall' },
          // Messages of people are delivered first: they may end the loop.
          { guard: 'isSteered', target: 'checked' },
          {
            guard: 'stallPauses',
            target: `#${agentMachineId}.paused`,
            actions: advance<Checked>((draft, { output }) => pauseForStall(draft, output)),
          },
          { target: 'checked', actions: advance<Checked>((draft, { output }) => applyStall(draft, output)) },
        ],
        // The look was not requested, so its failure is not reported; the next step is looked at again.
        onError: { target: 'checked' },
      },
    },
    checked: { always: requests },
    // First, so that what is pinned together with a revert holds against it.
    pins: {
      entry: advance((draft) => beginDrain(draft, 'pins')),
      invoke: {
        src: 'drainPins',
        id: 'drainPins',
        input: ({ context }) => ({ agentId: context.agentId, key: drainKey(context), requests: context.pins }),
        onDone: [
          { guard: 'isStaleDrain' },
          { target: 'pinned', actions: advance<Pinned>((draft, { output }) => applyPins(draft, output)) },
        ],
        onError: {
          target: 'pinned',
          actions: advance<Failed>((draft, { error }) => refusePins(draft, messageOf(error), draft.context.drained)),
        },
      },
    },
    pinned: { always: [{ guard: 'pinRequested', target: 'pins' }, ...brakes, ...onwards] },
    reverts: {
      entry: advance((draft) => beginDrain(draft, 'reverts')),
      invoke: {
        src: 'drainReverts',
        id: 'drainReverts',
        input: ({ context }) => ({
          agentId: context.agentId,
          key: drainKey(context),
          requests: context.reverts,
          turnIndex: Math.max(0, context.turns - 1),
          lastNodeId: context.lastNodeId,
          outlook: outlookOf(context),
          expected: Math.max(1, context.run?.turns ?? 0),
        }),
        onDone: [
          { guard: 'isStaleDrain' },
          { target: 'reverted', actions: advance<Reverted>((draft, { output }) => applyReverts(draft, output)) },
        ],
        onError: {
          target: 'reverted',
          actions: advance<Failed>((draft, { error }) => refuseReverts(draft, messageOf(error), draft.context.drained)),
        },
      },
    },
    reverted: { always: [{ guard: 'undoPending', target: 'undoing' }, ...unreverted] },
    // One call at a time, so that the log says after a crash what is left to do.
    undoing: {
      invoke: {
        src: 'undoCall',
        id: 'undoCall',
        input: ({ context }) => undoInput(context),
        onDone: [
          { guard: 'isStaleUndo' },
          { target: 'undone', actions: advance<Undone>((draft, { output }) => applyUndo(draft, output)) },
        ],
        onError: {
          target: 'undone',
          actions: advance<Failed>((draft, { error }) => failUndo(draft, messageOf(error))),
        },
      },
    },
    undone: {
      always: [
        { guard: 'storeBroken', target: `#${agentMachineId}.paused`, actions: advance(pauseForStore) },
        { guard: 'undoPending', target: 'undoing' },
        ...unreverted,
      ],
    },
    // After reverts: what was asked back together with a revert may stand on the branch that this abandoned.
    grafts: {
      entry: advance((draft) => beginDrain(draft, 'grafts')),
      invoke: {
        src: 'drainGrafts',
        id: 'drainGrafts',
        input: ({ context }) => ({
          agentId: context.agentId,
          key: drainKey(context),
          requests: context.grafts,
          lastNodeId: context.lastNodeId,
        }),
        onDone: [
          { guard: 'isStaleDrain' },
          { target: 'grafted', actions: advance<Grafted>((draft, { output }) => applyGrafts(draft, output)) },
        ],
        onError: {
          target: 'grafted',
          actions: advance<Failed>((draft, { error }) => refuseGrafts(draft, messageOf(error), draft.context.drained)),
        },
      },
    },
    grafted: { always: [{ guard: 'pruneEnabled', target: 'prunes' }, ...onwards] },
    prunes: {
      entry: advance((draft) => beginDrain(draft, 'prunes')),
      invoke: {
        src: 'drainPrunes',
        id: 'drainPrunes',
        input: ({ context }) => ({ agentId: context.agentId, key: drainKey(context), requests: context.prunes }),
        onDone: [
          { guard: 'isStaleDrain' },
          { target: 'pruned', actions: advance<Pruned>((draft, { output }) => applyPrunes(draft, output)) },
        ],
        onError: {
          target: 'pruned',
          actions: advance<Failed>((draft, { error }) => refusePrunes(draft, messageOf(error), draft.context.drained)),
        },
      },
    },
    pruned: { always: onwards },
    // One policy at a time: the next is asked about the trunk as this one leaves it.
    consulting: {
      entry: advance(beginConsultation),
      invoke: {
        src: 'consultPolicies',
        id: 'consultPolicies',
        input: ({ context }) => ({
          agentId: context.agentId,
          key: consultKey(context),
          from: askedSoFar(context),
          ...requestOf(context),
          isAtRest: context.run === null,
          turn: context.turns,
        }),
        onDone: [{ guard: 'isStaleConsultation' }, { target: 'consulted', actions: consulted }],
        onError: {
          target: 'consulted',
          actions: advance<Failed>((draft, { error }) => cancelConsultation(draft, messageOf(error))),
        },
      },
      on: {
        'policy.fired': {
          guard: 'isCurrentConsultation',
          actions: advance<EventOfType<'policy.fired'>>((draft, { start }) => startPolicy(draft, start)),
        },
      },
      always: [
        {
          guard: 'storeBroken',
          target: `#${agentMachineId}.paused`,
          actions: advance((draft) => {
            cancelConsultation(draft, 'the store failed', true)
            pauseForStore(draft)
          }),
        },
        {
          guard: 'answersAtDeadline',
          target: `#${agentMachineId}.draining.leaving`,
          actions: advance((draft) => cancelConsultation(draft, 'the time limit was reached')),
        },
        {
          guard: 'deadlinePassed',
          target: `#${agentMachineId}.paused`,
          actions: advance((draft) => {
            cancelConsultation(draft, 'the time limit was reached')
            pauseForDeadline(draft)
          }),
        },
        {
          guard: 'outrunsConsultation',
          target: `#${agentMachineId}.idle`,
          actions: advance((draft) => cancelConsultation(draft, 'a message came first')),
        },
      ],
    },
    consulted: { always: [...brakes, ...onwards] },
    folding: {
      entry: advance(beginUnasked),
      invoke: {
        src: 'drainFold',
        id: 'drainFold',
        input: ({ context }) => ({ agentId: context.agentId, key: foldKey(context) }),
        onDone: [
          { guard: 'isStaleFold' },
          { target: 'leaving', actions: advance<Folded>((draft, { output }) => applyFold(draft, output)) },
        ],
        // The fold was not requested, so its failure is not reported; the next drain tries again.
        onError: { target: 'leaving' },
      },
    },
    leaving: { always: exits },
  },
})
