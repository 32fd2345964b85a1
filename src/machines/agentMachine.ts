import { noPartStates } from './partStates.ts'
import { fireSchedules } from './schedules.ts'
import { askedKinds, emptyBrakeQueues, type AskedBrake, type BrakeEvent } from '../protocol/brakes/brakeTable.ts'
import { RuntimeError, toErrorInfo } from '../protocol/errors.ts'
import { advance, agentMachineId, agentSetup } from './agentSetup.ts'
import type { AgentContext, AgentInput, EventOfType } from './agentTypes.ts'
import { abortAtRest, withdraw } from './aborts.ts'
import {
  askInBackground,
  cancelBackground,
  decideInBackground,
  failBackground,
  settleBackground,
  startBackground,
} from './background.ts'
import { askFor } from './brakes.ts'
import { attachChild, detachChild, loseChild } from './children.ts'
import { callAgent, leaveAgent } from './innerAgents.ts'
import { enqueueMessage, enqueuePrompt, enqueueSaid } from './queues.ts'
import { requestCompaction } from './compaction.ts'
import type { Draft } from './draft.ts'
import { requestPolicy } from './policies.ts'
import { recoverRun } from './recovery.ts'
import { takeReport } from './reports.ts'
import { askToGoOn, deadlineKey } from './runs.ts'
import { changeUse } from './turns.ts'
import { backoff } from './states/backoff.ts'
import { compacting } from './states/compacting.ts'
import { draining } from './states/draining.ts'
import { executing } from './states/executing.ts'
import { idle } from './states/idle.ts'
import { paused } from './states/paused.ts'
import { preparing } from './states/preparing.ts'
import { replying } from './states/replying.ts'
import { settling } from './states/settling.ts'
import { beginEnding, stopped } from './states/stopped.ts'

/** Writes the records of parts that code, a tool or a timer asks for, in the current run and turn. */
function recordParts(draft: Draft, { records }: EventOfType<'record'>): void {
  for (const record of records) draft.record({ ...record, ...draft.at })
}

const none: readonly never[] = Object.freeze([])
const noneConsulted = Object.freeze({ turns: 0, atRest: false, count: 0 })

/** Checks the input. @throws RuntimeError `INVALID_OPTION` if it is not an `AgentInput` but, for example, the argument of `runtime.spawn`. */
function checkInput(input: Partial<AgentInput> | undefined): void {
  if (typeof input?.definition === 'string' && input.policy?.flags !== undefined) return
  const fields = Object.keys(input ?? {}).join(', ') || 'nothing'
  const what = `The input of agentMachine is agentId, path, definition (its name), model and policy; it has ${fields}.`
  throw new RuntimeError('INVALID_OPTION', `${what} To run a definition: runtime.spawn(definition).`)
}

const initialContext = ({ restored, task, parent: _, metadata: __, ...input }: AgentInput): AgentContext => ({
  seq: 0,
  head: null,
  lastNodeId: 0,
  runs: 0,
  turns: 0,
  isTurnOpen: false,
  owesReply: false,
  endedBy: null,
  run: null,
  frame: null,
  pausedRun: null,
  pausedLimits: null,
  givenLimits: null,
  failedRun: null,
  resuming: null,
  calls: none,
  children: 0,
  attached: none,
  background: none,
  reporters: none,
  handoff: null,
  task: task ?? null,
  isTaskOver: false,
  // XState starts an initial state's children before its actions, so an effect would run before the records it follows.
  isAsleep: restored !== undefined,
  steering: none,
  followUps: none,
  prompts: none,
  pause: null,
  now: 0,
  heldAt: 0,
  storeError: null,
  isLeaving: false,
  contextTokens: 0,
  compactedAt: 0,
  compactionCause: 'headroom',
  isCompacting: false,
  compactions: 0,
  repliedAt: null,
  ending: null,
  undoing: null,
  foldAt: input.policy.flags.fold ? 0 : null,
  compactRequests: none,
  policyRequests: input.policy.flags.policies ? none : null,
  consulted: noneConsulted,
  parts: noPartStates,
  consulting: null,
  drainedAt: 0,
  drained: none,
  // Last, so that the fields above are laid out at once.
  ...emptyBrakeQueues,
  ...input,
  ...restored?.context,
})

type BackgroundDone = EventOfType<'xstate.done.actor.background.0'>
type BackgroundFailed = EventOfType<'xstate.error.actor.background.0'>

function wake(draft: Draft, { staysPaused }: EventOfType<'wake'>): void {
  draft.set({ isAsleep: false })
  if (staysPaused !== true) startBackground(draft)
}

/** Transitions that end the agent. Children spawned by code end first. */
const ending = [
  { guard: 'isRunning', target: '.settling', actions: beginEnding },
  { guard: 'hasChildren', actions: beginEnding },
  { target: '.stopped', actions: beginEnding },
] as const

const ask = { actions: advance<BrakeEvent>((draft, event) => askFor(draft, event.type, event.request)) }
/** Transitions for the brakes that code and people request. */
const asked = Object.fromEntries(askedKinds.map((kind) => [kind, ask])) as Record<AskedBrake, typeof ask>

/**
 * The statechart every agent runs. Pure: every effect is an actor named by a string, every log entry a `record` action,
 * so the same chart runs live, from a log, or through `transition()` with no actor at all.
 */
export const agentMachine = agentSetup.createMachine({
  id: agentMachineId,
  context: ({ input }) => {
    checkInput(input)
    return initialContext(input)
  },
  options: { maxIterations: 200 },
  entry: [
    'attach',
    advance<{ readonly input: AgentInput }>((draft, { input }) => {
      const { restored, parent, metadata } = input
      const { agentId, path, definition, model } = draft.context
      const link = parent === undefined ? {} : { parent }
      if (restored === undefined)
        draft.record({
          type: 'agent.created',
          agentId,
          path,
          definition,
          model: model.id,
          machine: agentMachineId,
          ...link,
          ...(metadata === undefined ? {} : { metadata }),
        })
      else recoverRun(draft, restored)
    }),
  ],
  initial: 'idle',
  states: {
    idle,
    replying,
    preparing,
    backoff,
    executing,
    draining,
    compacting,
    paused,
    settling,
    stopped,
  },
  on: {
    prompt: [
      { guard: 'interruptsRun', target: '.settling', actions: advance<EventOfType<'prompt'>>(enqueuePrompt) },
      { actions: advance<EventOfType<'prompt'>>(enqueuePrompt) },
    ],
    steer: [
      { guard: 'isAtRest', actions: advance<EventOfType<'steer'>>(enqueueSaid) },
      { actions: advance<EventOfType<'steer'>>((draft, event) => enqueueMessage(draft, 'steering', event)) },
    ],
    followUp: [
      { guard: 'isAtRest', actions: advance<EventOfType<'followUp'>>(enqueueSaid) },
      { actions: advance<EventOfType<'followUp'>>((draft, event) => enqueueMessage(draft, 'followUps', event)) },
    ],
    report: [
      {
        guard: 'isAtRest',
        actions: advance<EventOfType<'report'>>((draft, event) => takeReport(draft, event, 'prompts')),
      },
      { actions: advance<EventOfType<'report'>>((draft, event) => takeReport(draft, event, 'followUps')) },
    ],
    resume: { guard: 'mayResumeFailed', actions: advance<EventOfType<'resume'>>(askToGoOn) },
    wake: { actions: advance<EventOfType<'wake'>>(wake) },
    ask: { actions: advance<EventOfType<'ask'>>(askInBackground) },
    decide: { actions: advance<EventOfType<'decide'>>(decideInBackground) },
    cancelCall: { actions: advance<EventOfType<'cancelCall'>>(cancelBackground) },
    'xstate.done.actor.background.*': [
      {
        guard: 'isAtRest',
        actions: advance<BackgroundDone>((draft, { output }) => settleBackground(draft, output, 'prompts')),
      },
      { actions: advance<BackgroundDone>((draft, { output }) => settleBackground(draft, output, 'followUps')) },
    ],
    'xstate.error.actor.background.*': [
      {
        guard: 'isAtRest',
        actions: advance<BackgroundFailed>((draft, event) => failBackground(draft, event, 'prompts')),
      },
      { actions: advance<BackgroundFailed>((draft, event) => failBackground(draft, event, 'followUps')) },
    ],
    spawn: { actions: advance<EventOfType<'spawn'>>(attachChild) },
    'call.agent': { actions: advance<EventOfType<'call.agent'>>(callAgent) },
    'leave.agent': { actions: advance<EventOfType<'leave.agent'>>(leaveAgent) },
    'xstate.done.actor.child.*': {
      actions: advance<EventOfType<'xstate.done.actor.child.0'>>((draft, { output }) => detachChild(draft, output)),
    },
    'xstate.error.actor.child.*': {
      actions: advance<EventOfType<'xstate.error.actor.child.0'>>((draft, { actorId, error }) =>
        loseChild(draft, actorId, toErrorInfo(error, 'INTERNAL')),
      ),
    },
    ...asked,
    compact: { actions: advance<EventOfType<'compact'>>((draft, { request }) => requestCompaction(draft, request)) },
    use: { actions: advance<EventOfType<'use'>>(changeUse) },
    record: { actions: advance<EventOfType<'record'>>(recordParts) },
    schedules: { actions: advance<EventOfType<'schedules'>>(fireSchedules) },
    brake: { actions: advance<EventOfType<'brake'>>((draft, { request }) => requestPolicy(draft, request)) },
    abort: [{ guard: 'isRunning', target: '.settling' }, { actions: advance<EventOfType<'abort'>>(abortAtRest) }],
    withdraw: [{ guard: 'isWithdrawn', target: '.settling' }, { actions: advance<EventOfType<'withdraw'>>(withdraw) }],
    stop: ending,
    close: ending,
    'store.failed': {
      actions: advance<EventOfType<'store.failed'>>((draft, { error }) => draft.set({ storeError: error })),
    },
    leave: { actions: advance((draft) => draft.set({ isLeaving: true })) },
    'xstate.done.actor.deadline': {
      actions: advance<EventOfType<'xstate.done.actor.deadline'>>((draft, { output }) => {
        const { run } = draft.context
        if (run !== null && deadlineKey(run) === output.key) draft.setRun({ deadlinePassed: true })
      }),
    },
    // An actor error that no transition takes would end the machine; every invoke handles its own.
    'xstate.error.actor.*': {},
  },
})
