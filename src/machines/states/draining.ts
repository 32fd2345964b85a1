import { messageOf } from '../../protocol/errors.ts'
import { advance, agentMachineId, agentSetup } from '../agentSetup.ts'
import { abortBackground } from '../aborts.ts'
import type { AgentContext, EventOfType } from '../agentTypes.ts'
import {
  askedKinds,
  askedBrakes,
  drainEffect,
  type AskedBrake,
  type BrakeQueue,
} from '../../protocol/brakes/brakeTable.ts'
import { applyFold, beginDrain, beginUnasked, drainKey, foldKey, refuse, refuseReshaping } from '../brakes.ts'
import { refuseCompactions, startCompaction } from '../compaction.ts'
import { applyDrain, drainTable } from '../drainTable.ts'
import type { ConsultInput, ConsultOutput, DrainOutput, FoldOutput, StallCheck, UndoOutput } from '../drainTypes.ts'
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

type Subject = { readonly context: AgentContext }
type Checked = { readonly output: StallCheck }
type Folded = { readonly output: FoldOutput }
type Consulted = { readonly output: ConsultOutput }
type Undone = { readonly output: UndoOutput }
type Failed = { readonly error: unknown }

/** Transitions of a run that leaves the drain between turns, in order of precedence. */
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

/** Transitions before the exits, and thus before compaction, because folded steps need no summary. Policies precede built-in measures. */
const onwards = [
  { guard: 'consultEnabled', target: 'consulting' },
  { guard: 'foldEnabled', target: 'folding' },
  ...exits,
] as const

/** Returns the transitions for the brakes from this place on, and those after them. Requests precede the runtime's own measures. */
const from = (place: number) => [
  ...askedKinds.slice(place).map((kind) => ({ guard: drainTable[kind].guard, target: askedBrakes[kind].queue })),
  ...onwards,
]
const after = (kind: AskedBrake) => from(askedKinds.indexOf(kind) + 1)

const requests = from(0)
const undoing = { guard: 'undoPending', target: 'undoing' } as const

/** Returns the states that undo abandoned calls. One call at a time, so that after a crash the log shows what is left to undo. */
const undoStates = (rest: ReturnType<typeof from>) => ({
  undoing: {
    invoke: {
      src: 'undoCall',
      id: 'undoCall',
      input: ({ context }: Subject) => undoInput(context),
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
      undoing,
      ...rest,
    ],
  },
})

/** Returns the states for the drain of a brake, and those that follow from it. */
function drainOf<K extends AskedBrake>(kind: K) {
  const { input, next } = drainTable[kind]
  const { queue, drained } = askedBrakes[kind]
  const src = drainEffect(kind)
  const rest = after(kind)
  const apply = advance<{ readonly output: DrainOutput<K> }>((draft, { output }) => applyDrain(draft, kind, output))
  const fail = advance<Failed>((draft, { error }) => refuse(draft, kind, messageOf(error), draft.context.drained))
  return {
    [queue]: {
      entry: advance((draft) => beginDrain(draft, queue)),
      invoke: {
        src,
        id: src,
        input: ({ context }: Subject) => ({
          agentId: context.agentId,
          key: drainKey(context),
          requests: context[queue],
          lastNodeId: context.lastNodeId,
          ...input?.(context),
        }),
        onDone: [{ guard: 'isStaleDrain' }, { target: drained, actions: apply }],
        onError: { target: drained, actions: fail },
      },
    },
    [drained]: { always: next === 'again' ? requests : next === 'undoing' ? [undoing, ...rest] : rest },
    ...(next === 'undoing' ? undoStates(rest) : {}),
  }
}

const drains = Object.assign({}, ...askedKinds.map(drainOf)) as Record<BrakeQueue | 'pinned', object>

const consulted = advance<Consulted>((draft, { output }) => endConsultation(draft, output))

const requestOf = ({ policyRequests, drained }: AgentContext): Pick<ConsultInput, 'request'> => {
  const request = policyRequests?.find(({ id }) => drained.includes(id))
  return request === undefined ? {} : { request }
}

/** State between turns, with no stream open and no tool running: the only place where the tree may be reshaped. */
export const draining = agentSetup.createStateConfig({
  description: 'Between turns: the only place where the conversation may be reshaped.',
  initial: 'entering',
  // At rest there is no run to settle: an abort just ends the drain.
  on: {
    abort: [
      { guard: 'isRunning', target: 'settling' },
      {
        target: 'idle',
        actions: advance((draft, event) => {
          abortBackground(draft, event)
          endUndo(draft, 'it was aborted')
          refuseReshaping(draft, 'it was aborted')
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
      always: [undoing, { guard: 'stallEnabled', target: 'checking' }, ...requests],
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
    ...drains,
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
    consulted: { always: after('pin') },
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
